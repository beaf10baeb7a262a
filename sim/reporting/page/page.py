"""The page of a run: one file that needs nothing else, neither to be shown nor to be understood."""

import json
import shlex
from collections.abc import Iterator, Mapping
from html import escape
from importlib import import_module
from pathlib import Path
from string import Template
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.sim.profile.hottest import HEADS, hottest, rows_of
from celosia.sim.profile.losses import clocked_operators, known_resources
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.resources import RESOURCES
from celosia.sim.profile.stopped import until_stopped
from celosia.sim.reporting.alike_operators import together
from celosia.sim.reporting.explain import Explanation, explain
from celosia.sim.reporting.page import figures
from celosia.sim.reporting.page.html import (
    Name,
    definition_table,
    paragraph,
    preformatted,
    section,
    table,
)
from celosia.sim.reporting.page.model import model_section
from celosia.sim.reporting.page.summary import stop_section, summary_section
from celosia.sim.reporting.page.timeline import timeline
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.extras import installed_by

__all__ = ["assemble", "page", "plotly_script"]

_ASSETS: Final = Path(__file__).parent / "assets"
_HOTTEST: Final = 20

Document = Mapping[str, Any]


def page(document: Document) -> str:
    """The page of the run that `document` describes; if it was stopped, of what ran until then."""
    document = until_stopped(document)
    stored = document["profile"]
    profile = Profile.from_document(stored) if stored else None
    config, told = AcceleratorConfig(**document["config"]), explain(document)
    document = together(document)
    drawn = _figures(document, profile)
    return assemble(
        title=f"{document['workload']} on {document['preset']}, {document['simulator']}",
        lead=told.summary,
        sections=list(_sections(document, profile, told)),
        data={"figures": drawn, "timeline": timeline(profile, config) if profile else None},
    )


def assemble(
    *,
    title: str,
    lead: str,
    sections: list[tuple[str, str, str]],
    data: Any,
) -> str:
    """A page of sections: the name, what links to it (or nothing), and the HTML of each.

    It is dark where its reader prefers that, and so are its figures, but for print.
    """
    links = "\n".join(
        f'<a href="#{name}">{escape(short)}</a>' for name, short, _ in sections if short
    )
    return Template((_ASSETS / "page.html").read_text()).substitute(
        title=escape(title),
        lead=escape(lead),
        style=(_ASSETS / "page.css").read_text(),
        links=links,
        sections="\n".join(html for *_, html in sections),
        plotly=plotly_script(),
        # Ends no script element, whatever names operators have.
        data=json.dumps(data, allow_nan=False).replace("<", "\\u003c"),
        script="".join((_ASSETS / name).read_text() for name in ("inflate.js", "page.js")),
    )


def plotly_script() -> str:
    """The library that draws, as JavaScript.  Raises `EnvironmentProblem` if it is not there."""
    try:
        offline = import_module("plotly.offline")
    except ImportError:
        raise EnvironmentProblem(
            f"a report needs the package plotly: {installed_by('report')}"
        ) from None
    return offline.get_plotlyjs()


def _figures(document: Document, profile: Profile | None) -> dict[str, Any]:
    drawn = {"traffic": figures.traffic(document)}
    if _multiplies(document):
        drawn["utilization"] = figures.utilization(document)
        drawn["roofline"] = figures.roofline(document)
    for resource in known_resources(document["counters"]):
        drawn[f"stalls-{resource}"] = figures.stall_bars(document, resource)
    if profile:
        drawn["banks"] = figures.bank_figure(profile)
    return drawn


def _multiplies(document: Document) -> bool:
    """Whether it is known how many products were useful: not so if it was stopped."""
    return any(part["mac_utilization"] is not None for part in clocked_operators(document))


def _figure(name: str) -> str:
    return f'<div class="figure" id="figure-{name}"></div>'


def _sections(
    document: Document, profile: Profile | None, told: Explanation
) -> Iterator[tuple[str, str, str]]:
    if document["status"] == "stopped":
        yield "stopped", "Why it stopped", stop_section(document, profile)
    yield "summary", "Summary", summary_section(document, told)
    if "placement" in document:
        yield "model", "Model", model_section(document)
    yield from _stalls(document)
    if _multiplies(document):
        yield (
            "utilization",
            "Utilization",
            section("utilization", "Utilization by operator", _figure("utilization")),
        )
        yield "roofline", "Roofline", section("roofline", "Roofline", _figure("roofline"))
    if profile:
        yield "timeline", "Timeline", _timeline(profile)
        yield "hottest", "Instructions", _instructions(profile)
    yield (
        "traffic",
        "Traffic",
        section(
            "traffic",
            "Memory traffic",
            paragraph(
                "The least is each operand and constant read once and each result written once, "
                "with everything in between on the chip. An operator moves less where what it "
                "reads or writes stays on the chip, too.",
                "note",
            ),
            _figure("traffic"),
        ),
    )
    if profile:
        yield (
            "banks",
            "Banks",
            section(
                "banks",
                "Banks and bus",
                paragraph(f"Each cell is {profile.slot_cycles:,} cycles.", "note"),
                _figure("banks"),
            ),
        )
    yield "schedule", "Schedule", _schedule(document, profile)
    yield "setting", "Setting", _setting(document)


def _stalls(document: Document) -> Iterator[tuple[str, str, str]]:
    parts = clocked_operators(document)
    for number, resource in enumerate(known_resources(document["counters"])):
        unit, name = RESOURCES[resource], f"stalls-{resource}"
        rows = [
            (part["workload"], owner.name, part["counters"].get(owner.name, 0), owner.doc)
            for part in [*parts, document]
            for owner in unit.owners
            if part["counters"].get(owner.name, 0)
        ]
        owners = table(("operator", "owner", "cycles", "meaning"), rows)
        html = section(
            name,
            f"Owners of the cycles: {unit.unit}",
            _figure(name),
            f"<details><summary>As a table</summary>{owners}</details>",
        )
        yield name, "" if number else "Cycles", html


def _timeline(profile: Profile) -> str:
    lost = (
        [paragraph(f"{profile.lost:,} operations and owners had no place in the log.", "note")]
        if profile.lost
        else []
    )
    return section(
        "timeline",
        "Timeline",
        '<p class="hint">Drag across the figure to see single operations, and arrows from loads to '
        "what uses them first; double-click to see all again.</p>",
        *lost,
        _figure("timeline"),
    )


def _instructions(profile: Profile) -> str:
    return section(
        "hottest",
        "The hottest instructions",
        paragraph(
            "Cycles are those of the instruction's unit; lost are those of the array between the "
            "product before and this one.",
            "note",
        ),
        table(
            HEADS,
            [
                (command, Name(operator), *cells)
                for command, operator, *cells in rows_of(hottest(profile, _HOTTEST))
            ],
        ),
        long=True,
    )


def _schedule(document: Document, profile: Profile | None) -> str:
    body: list[str] = []
    for part in profile.parts if profile else ():
        if part.schedule:
            body += [f"<h3>{escape(part.name)}</h3>", preformatted(part.schedule)]
    rows = [
        (
            Name(part["workload"]),
            part["shape"] or "-",
            part["commands"],
            part["cycles"],
            part["predicted_cycles"],
        )
        for part in document["operators"]
    ]
    body.append(table(("operator", "shape", "commands", "cycles", "predicted"), rows))
    return section("schedule", "Schedule", *body, long=True)


def _setting(document: Document) -> str:
    words = shlex.join(document["command_line"])
    commit = document["commit"] or "unknown"
    return section(
        "setting",
        "Configuration, versions, and how to run it again",
        preformatted(f"git checkout {commit.removesuffix('-dirty')}\n{words}"),
        *(
            [paragraph("The checkout had changes that are not in this commit.", "note")]
            if commit.endswith("-dirty")
            else []
        ),
        "<h3>Accelerator</h3>",
        definition_table(document["config"].items()),
        "<h3>Memory and run</h3>",
        definition_table([
            *((name, _plain(value)) for name, value in document["memory"].items()),
            ("commands come from", document["issue"]),
            ("seed", document["seed"]),
        ]),
        "<h3>Versions</h3>",
        definition_table([*document["versions"].items(), ("commit", commit)]),
        long=True,
    )


def _plain(value: object) -> object:
    return json.dumps(value) if isinstance(value, dict | list) else value
