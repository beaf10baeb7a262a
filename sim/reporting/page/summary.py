"""The first sections of a report's page: where the cycles went, and why a run was stopped."""

from collections.abc import Mapping
from html import escape
from typing import Any, Final

from celosia.sim.profile.losses import clocked_operators
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.resources import ARRAY, RESOURCES
from celosia.sim.profile.stopped import UNFINISHED_HEADS, blamed, unfinished
from celosia.sim.profile.whatif import FOLLOWED
from celosia.sim.reporting.explain import Explanation
from celosia.sim.reporting.page.html import Name, paragraph, section, table, tile
from celosia.sim.reporting.page.model import model_tiles

__all__ = ["stop_section", "summary_section"]

_UNFINISHED: Final = 8
"""Operations of each queue that are shown of a run that was stopped."""
_STYLES: Final = {"right": "right", "unchecked": ""}
"""How a status is shown; others are wrong."""
_HEADS: Final = ("operator", "cycles", "share", "lost", "the most by")

Document = Mapping[str, Any]


def stop_section(document: Document, profile: Profile | None) -> str:
    """Why a run was stopped, what waited for what, the last commands, and what was not done."""
    body: list[str] = []
    for part in [*document["operators"], document]:
        if not (failure := part["failure"]) or body:
            continue
        body.append(paragraph(f"{part['workload']}: {failure['message']}", "wrong"))
        if failure["waiting"]:
            clauses = "".join(f"<li>{escape(clause)}</li>" for clause in failure["waiting"])
            body.append(f"<h3>Who waited for whom</h3><ul>{clauses}</ul>")
        rows = [
            (each["command"], each["text"], "to blame" * (each["command"] == blamed(failure)))
            for each in failure["last_commands"]
        ]
        if rows:
            heading = "<h3>The last commands that were accepted</h3>"
            body.append(heading + table(("command", "instruction", ""), rows))
    if profile and (rows := unfinished(profile, _UNFINISHED)):
        body.append("<h3>Operations that were not done</h3>" + table(UNFINISHED_HEADS, rows))
    return section("stopped", "Why it stopped", *body, long=True)


def summary_section(document: Document, told: Explanation) -> str:
    """The figures that matter, where the cycles went, what was lost, and what would help."""
    status, compared = document["status"], "results"
    stopped = status == "stopped"
    if document.get("check") == "outputs":
        compared = "outputs, the only ones compared"
    limit, use = document["limit"], document["mac_utilization"]
    tiles = [
        tile(status, compared, _STYLES.get(status, "wrong")),
        tile(f"{document['cycles'] or 0:,}", "cycles until then" if stopped else "cycles"),
        tile("-" if use is None else f"{use:.2%}", "MAC utilization"),
        tile(f"{document['dram_read_bytes']:,}", "bytes read"),
        tile(f"{document['dram_write_bytes']:,}", "bytes written"),
        tile(f"{document['commands']:,}", "commands"),
    ]
    if limit:
        tiles.insert(3, tile(f"{limit['cycles']:,}", f"cycles at least ({limit['bound']})"))
    if share := document.get("memory_limit_share"):
        tiles.insert(3, tile(f"{share:.2%}", "of the memory's limit"))
    tiles += model_tiles(document)
    body = [f'<div class="tiles">{"".join(tiles)}</div>']
    if told.doubt or told.changes is not None:
        body.append(paragraph(told.heading))
    if told.changes:
        changes = "".join(f"<li>{escape(str(change))}</li>" for change in told.changes)
        body.append(f'<ol class="changes">{changes}</ol>')
    if told.expects:
        body.append(paragraph(str(FOLLOWED), "note"))
    if rows := _where(document):
        body += [paragraph("Where the cycles went:"), table(_HEADS, rows)]
    lines = [
        f"<li><b>{share:.0%} of the loss, {loss.cycles:,} cycles: {escape(loss.operator)}, "
        f"<code>{escape(loss.owner)}</code>.</b> {escape(loss.meaning)} {escape(help_)}</li>"
        for loss, share, help_ in told.lines
    ]
    if lines:
        body += [paragraph("What was lost:"), f'<ol class="losses">{"".join(lines)}</ol>']
    heading = "What ran until then" if stopped else "What limits this run"
    return section("summary", heading, *body, long=True)


def _where(document: Document) -> list[tuple[int | str | Name, ...]]:
    """Rows of a table: each operator's cycles, and those in which no row entered the array."""
    array = RESOURCES[ARRAY]
    _, *others = (owner.name for owner in array.owners)
    parts = clocked_operators(document)
    rows = []
    for part in [*parts, *([document] if len(parts) > 1 else [])]:
        counters = part["counters"]
        worst = max(others, key=lambda name: counters.get(name, 0))
        lost = sum(counters.get(name, 0) for name in others)
        rows.append((
            Name(part["workload"] if part is not document else "all"),
            part["cycles"],
            f"{part['cycles'] / max(1, document['cycles']):.1%}",
            lost,
            f"{worst} ({counters[worst]:,})" if counters.get(worst) else "-",
        ))
    return rows
