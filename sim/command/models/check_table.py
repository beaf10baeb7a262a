"""What `celosia check` prints: a line for each node, or for nodes of layers that are alike."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.markup import escape

from celosia.sim.profile.alike import blocks, kind_of_name, span_name
from celosia.sim.run.models.time_share import TimeShare
from celosia.sim.support.fitted import Column, FittedTable
from celosia.sim.support.words import counted, cut_middle
from celosia.sw.frontend.nn.graph import split_origin
from celosia.sw.quantize.units.placement import PlacedNode, Placement, Where
from celosia.sw.rewriting.engine import Fault, Refusal

if TYPE_CHECKING:
    from celosia.sw.frontend.importer.import_model import Imported
    from celosia.sw.frontend.importer.survey import Survey

__all__ = ["Placed", "refusal_notes", "show_check"]

_COLUMNS: Final = (
    Column("node", "name"),
    Column("operator", "text", needless=2),
    Column("MACs"),
    Column("share", needless=1),
    Column("time"),
    Column("float graph", "text", needless=3),
    Column("where", "text"),
)
_PART: Final = "part of "
_PLACE: Final = 28
"""Characters of the name of a node within a reason."""


@dataclass(frozen=True)
class Placed:
    """A model's nodes, where they run, and the predicted time."""

    survey: "Survey"
    placement: Placement | None
    """None: some output cannot be computed."""
    time: TimeShare | None
    """None: nothing was predicted."""


@dataclass(frozen=True)
class _Line:
    """A node, or several that are alike."""

    name: str
    operator: str
    made: tuple[str, ...]
    macs: int
    cycles: int
    where: str
    why: str
    refused: bool

    @property
    def is_part(self) -> bool:
        """Nothing is computed there that takes time or multiplies."""
        alone = self.macs or self.cycles
        return not alone and (self.where == Where.NOBODY or self.why.startswith(_PART))

    @property
    def kind(self) -> tuple[object, ...]:
        """What alike lines have in common."""
        names = kind_of_name(self.name), kind_of_name(self.why)
        return (*names, self.operator, self.made, self.macs, self.where, self.refused)


def show_check(
    console: Console, imported: "Imported", placed: Placed, *, every: bool = False
) -> None:
    """Print the table and the notes; with `every`, layers that are alike one by one."""
    lines = list(_lines(placed))
    captions = list(_captions(placed))
    if not every:
        shown = [line for line in lines if not line.is_part]
        if len(shown) < len(lines):
            hidden = counted(len(lines) - len(shown), "node")
            captions.append(f"{hidden} that others stand for, or that move elements: --all")
        lines = list(_together(_without_lost(shown)))
    table = FittedTable(columns=_COLUMNS, caption="\n".join(captions))
    macs, time = placed.survey.macs, placed.time
    for line in lines:
        total = time.total if time is not None else 0
        style = "red" if line.refused else "yellow" if line.where == Where.HOST else None
        table.add_row(
            line.name,
            escape(line.operator),
            f"{line.macs:,}" if line.macs else "",
            f"{line.macs / macs:.2%}" if line.macs else "",
            f"{line.cycles / total:.2%}" if line.cycles else "",
            ", ".join(op if n == 1 else f"{op} x{n}" for op, n in Counter(line.made).items()),
            escape(_place(line)),
            style=style,
        )
    console.print(table)
    for note in imported.notes:
        console.print(f"note: {note}", markup=False)
    for name, reason in imported.lost.items():
        console.print(f"output {name} cannot be computed: {reason}", markup=False)


def refusal_notes(refusals: Iterable[Refusal]) -> Iterator[str]:
    """What looked like an operator and is none, alike ones together, behind mistakes of passes."""
    kinds: dict[tuple[str, str, str], list[Refusal]] = {}
    for each in refusals:
        if isinstance(each, Fault):
            yield str(each)
            continue
        kind = (kind_of_name(each.root), each.what, kind_of_name(each.reason))
        kinds.setdefault(kind, []).append(each)
    for alike in kinds.values():
        told = Refusal(alike[0].what, span_name([each.root for each in alike]), alike[0].reason)
        yield f"{told}; it is computed as the file writes it"


def _lines(placed: Placed) -> Iterator[_Line]:
    nodes = () if placed.placement is None else placed.placement.nodes
    places = {split_origin(node.origin): (node.where, _whole_reason(node)) for node in nodes}
    times = {} if placed.time is None else placed.time.host
    cycles = {split_origin(origin): count for origin, count in times.items()}
    for row in placed.survey.rows:
        node = (row.name, row.operator)
        where, why = places.get(node, ("", row.reason))
        yield _Line(
            *node, row.made, row.macs, cycles.get(node, 0), where, why, refused=bool(row.reason)
        )


def _whole_reason(node: PlacedNode) -> str:
    """Why a node is where it is, and what the host computes of one of the accelerator's."""
    part = f"but on the host its {node.host_part}" if node.host_part else ""
    return "; ".join(filter(None, (node.reason, part)))


def _without_lost(lines: Sequence[_Line]) -> Iterator[_Line]:
    """The lines, but one for all nodes that depend on the same one that is not supported."""
    lost: dict[str, list[_Line]] = {}
    for line in lines:
        if line.refused and line.why.startswith("it depends on "):
            lost.setdefault(line.why, []).append(line)
        else:
            yield line
    for why, behind in lost.items():
        if len(behind) == 1:
            yield behind[0]
            continue
        kinds = Counter(line.operator for line in behind)
        operators = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        they = why.replace("it depends", "they depend", 1)
        yield _Line(counted(len(behind), "node"), operators, (), 0, 0, "", they, refused=True)


def _together(lines: Iterable[_Line]) -> Iterator[_Line]:
    """Lines that repeat, added up."""
    rows = list(lines)
    for block in blocks([row.kind for row in rows]):
        for at in range(block.start, block.start + block.size):
            behind = block.start + block.size * block.count
            alike = rows[at : behind : block.size]
            first = alike[0]
            why = span_name([row.why for row in alike]) if len(alike) > 1 else first.why
            yield _Line(
                span_name([row.name for row in alike]),
                first.operator,
                first.made,
                sum(row.macs for row in alike),
                sum(row.cycles for row in alike),
                first.where,
                why.removesuffix(f" x{len(alike)}"),
                first.refused,
            )


def _place(line: _Line) -> str:
    """Where, and why."""
    why = line.why
    if why.startswith(_PART):
        why = _PART + cut_middle(why.removeprefix(_PART), _PLACE)
    return ": ".join(filter(None, (line.where, why)))


def _captions(placed: Placed) -> Iterator[str]:
    found, placement = placed.survey, placed.placement
    text = (
        f"{counted(found.nodes, 'node')} in the file, {len(found.rows) - found.refused:,} behind "
        f"folding, {found.refused:,} not supported; {counted(found.macs, 'multiply-accumulate')}"
    )
    if placement is None:
        yield text
        return
    yield f"{text}, {placement.accelerator_mac_share:.2%} of them on the accelerator"
    if placed.time is not None:
        yield _time_caption(placed.time)
    reasons = placement.on_host()
    listed = "; ".join(f"{count} as {reason}" for reason, count in reasons.most_common())
    parts = placement.parts_on_host()
    gathers = placed.time is not None and placed.time.host and not parts
    nothing = "no node on the host" + (": it only puts operands together" if gathers else "")
    yield f"{counted(reasons.total(), 'node')} on the host: {listed}" if reasons else nothing
    if parts:
        listed = "; ".join(f"{part} ({count})" for part, count in parts.most_common())
        yield f"the host computes a part of {counted(parts.total(), 'more node')}: {listed}"


def _time_caption(time: TimeShare) -> str:
    text = (
        f"predicted time: {counted(time.total, 'cycle')}, {time.accelerator_time_share:.2%} of "
        "them the accelerator's"
    )
    if not time.host:
        return text
    origin, cycles = next(iter(time.host.items()))
    return f"{text}; the most on the host: {cycles / time.total:.2%}, {origin}"
