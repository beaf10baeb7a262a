"""Segments of a float graph: what the host computes, then a segment of units, then the host again.

Units run in the first segment in which all that they read is there.  A *form* is a value as
integers in the role that its readers need; units make the forms that they can, the host all others.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.ir.graph import Graph, View
from celosia.sw.quantize.units.units import Append, Attention, Finishing, Join, Product, Unit, Units
from celosia.sw.quantize.units.values import Form, Role

__all__ = ["GivenRows", "Keys", "Segment", "Segments", "plan_segments"]

_HOST_READS: Final[tuple[Role, ...]] = ("wide", "sums", "small", "heads")
"""The forms that the host reads, the best one first."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Segments:
    """What is computed when, and by whom."""

    graph: FloatGraph
    units: Units
    fused: frozenset[str]
    """Products that are computed with the one finish that reads them."""
    made: dict[str, tuple[Role, ...]]
    """The forms that a unit makes of its value, by the tensor it computes."""
    segment_of: dict[str, int]
    """When a unit is computed, by the tensor it computes; fused products are not listed."""
    host: tuple[tuple[Node, ...], ...]
    """What the host computes before each segment, and behind the last one."""
    converted: dict[Form, int]
    """The forms that the host makes, and the segment before which it does."""

    @property
    def count(self) -> int:
        """How many segments there are."""
        return len(self.host) - 1

    @property
    def forms(self) -> list[Form]:
        """All forms that units make or the host does, but for the sums of products."""
        made = [
            Form(self.units.units[name].value.key, role)
            for name, roles in self.made.items()
            for role in roles
            if role != "sums"
        ]
        return made + list(self.converted)

    def host_form(self, tensor: str) -> Form:
        """The form of a unit's value that the host reads."""
        roles = self.made[tensor]
        key = self.units.units[tensor].value.key
        return Form(key, next(role for role in _HOST_READS if role in roles))

    @property
    def host_reads(self) -> set[str]:
        """The tensors of units that the host reads."""
        names = {name for level in self.host for node in level for name in node.inputs}
        names |= set(self.graph.outputs.values())
        names |= {self.units.values[form.key].tensor for form in self.converted}
        return names & self.segment_of.keys()

    def host_alone(self, tensor: str) -> bool:
        """Whether nobody but the host reads the sums of a product."""
        finishes = (unit.product.value.tensor for unit in self.units.of(Finishing))
        return self.made.get(tensor) == ("sums",) and tensor not in finishes

    def source_of(self, unit: Append) -> int | None:
        """The segment that makes what is appended to a cache; None: the host does."""
        form = Form(unit.parts[0].tensor, "heads")
        tensor = self.units.values[form.key].tensor
        return None if form in self.converted else self.segment_of[tensor]

    def users(self, form: Form) -> list[Unit]:
        """The units that read a form."""
        return [unit for unit in self.units.units.values() if form in set(unit.reads())]


Keys = tuple[str, int]
"""The tensor that counts the keys of texts, and a text."""


@dataclass(frozen=True)
class GivenRows:
    """Rows of a cache that no operator of a segment writes: the host does, before it runs."""

    cache: str
    first: int
    form: Form
    parts: tuple[View, ...]
    """The rectangles of the form's matrix that stand beside each other in the cache."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Segment:
    """An integer graph, which sees all keys until `for_masks` says how many there are."""

    graph: Graph
    inputs: dict[str, Form]
    """What each input of the graph is."""
    outputs: dict[str, Form]
    keys: dict[str, Keys]
    """The keys of products of queries and keys, by the operator's name."""
    operators: dict[str, str]
    """The node of the model's file that each unit ends with."""
    gelus: dict[str, float] = field(default_factory=dict)
    """The factor of each SiLU that stands for a GELU, by its unit."""
    caches: dict[str, str] = field(default_factory=dict)
    """The model's input that each cache is, by its name in the graph."""
    given: tuple[GivenRows, ...] = ()
    made: dict[str, Form] = field(default_factory=dict)
    """What each tensor is that its units make, outputs or not; a saved model has none."""

    def unit(self, name: str) -> str:
        """The unit of an operator or of a tensor, whose name begins with the unit's."""
        parts = name.split(".")
        starts = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
        return next((start for start in starts if start in self.operators), parts[0])

    def node(self, name: str) -> str:
        """The node of the model's file that an operator or a tensor belongs to."""
        return self.operators.get(self.unit(name), name)

    def place(self, operator: str) -> str:
        """An operator's node, and what it is of it, if it is not all."""
        unit = self.unit(operator)
        part = operator.removeprefix(unit).removeprefix(".")
        return ": ".join(each for each in (self.operators.get(unit, unit), part) if each)


def plan_segments(graph: FloatGraph, units: Units, sums: Collection[str] = frozenset()) -> Segments:
    """The segments of a graph behind `recognize`, whose units are known.

    The host reads int32 of the products in `sums`, by the tensors that they compute.
    """
    needed, host_reads = _host_needs(graph, units)
    planner = _Planner(graph, units, host_reads, sums)
    planner.run(needed)
    last = max([-1, *planner.segment_of.values(), *(at - 1 for at in planner.levels.values())])
    host: list[list[Node]] = [[] for _ in range(last + 2)]
    for node in graph.nodes:
        if node.name in needed:
            host[planner.levels[node.name]].append(node)
    return Segments(
        graph=graph,
        units=units,
        fused=frozenset(planner.fused),
        made=planner.made,
        segment_of=planner.segment_of,
        host=tuple(map(tuple, host)),
        converted=planner.converted,
    )


def _host_needs(graph: FloatGraph, units: Units) -> tuple[set[str], set[str]]:
    """The nodes that the host computes, and the tensors of units that it reads."""
    producers = graph.producers()
    wanted = list(graph.outputs.values())
    wanted += [value.tensor for value in units.values.values()]
    wanted += [u.keys for u in units.units.values() if isinstance(u, Attention) and u.keys]
    reading = set(graph.outputs.values()) & units.units.keys()
    reading |= {
        value.tensor for value in units.values.values() if value.scores
    } & units.units.keys()
    needed: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name in needed or name in units.units or name not in producers:
            continue
        needed.add(name)
        inputs = producers[name].inputs
        reading.update(each for each in inputs if each in units.units)
        wanted += inputs
    return needed, reading


class _Planner:
    """Follows the nodes in their order."""

    def __init__(
        self, graph: FloatGraph, units: Units, host_reads: set[str], sums: Collection[str]
    ):
        self.graph, self.units, self.host_reads, self.sums = graph, units, host_reads, sums
        self.needs: dict[str, set[Role]] = {key: set() for key in units.values}
        self.finishes: dict[str, list[Finishing]] = {}
        for unit in units.units.values():
            for form in unit.reads():
                self.needs[form.key].add(form.role)
            if isinstance(unit, Finishing):
                self.finishes.setdefault(unit.product.value.tensor, []).append(unit)
        self.made: dict[str, tuple[Role, ...]] = {}
        self.fused: set[str] = set()
        for name in reversed(units.units):
            unit = units.units[name]
            self.made[name] = self._made(unit)
            if isinstance(unit, Join):
                for part in unit.parts:
                    self.needs[units.units[part].value.key].update(self.made[name])
        self.segment_of: dict[str, int] = {}
        self.levels: dict[str, int] = {}
        self.converted: dict[Form, int] = {}

    def _made(self, unit: Unit) -> tuple[Role, ...]:
        """The forms that a unit makes; its finishes are known."""
        name = unit.value.tensor
        wanted = set(self.needs[unit.value.key])
        if name in self.host_reads and not (isinstance(unit, Attention) and wanted):
            wanted.add("sums" if name in self.sums else "wide")
        if isinstance(unit, Product):
            finishes = self.finishes.get(name, [])
            alone = not wanted and len(finishes) == 1
            if alone and len(self.made[finishes[0].value.tensor]) == 1:
                self.fused.add(name)
                return ()
            if finishes:
                wanted.add("sums")
        return tuple(sorted(unit.makes(wanted))) or ("wide",)

    def run(self, needed: set[str]) -> None:
        """When each unit and each of the `needed` nodes of the host is computed."""
        for node in self.graph.nodes:
            if node.name in needed:
                self.levels[node.name] = max(map(self._level, node.inputs), default=0)
            unit = self.units.units.get(node.name)
            if unit is None or node.name in self.fused or isinstance(unit, Append):
                continue
            level = max(self._ready(unit), default=0)
            for form in unit.reads():
                for append in self._appends(form):
                    self.segment_of[append.value.tensor] = level
            self.segment_of[node.name] = level

    def _ready(self, unit: Unit) -> Iterator[int]:
        yield from map(self._form, unit.reads())
        if isinstance(unit, Finishing):
            product = unit.product.value.tensor
            if product in self.fused:
                yield from map(self._form, unit.product.reads())
            else:
                yield self.segment_of[product]
        if isinstance(unit, Attention) and unit.keys:
            yield self._level(unit.keys)
        if isinstance(unit, Join):
            yield from (self.segment_of[part] for part in unit.parts)

    def _form(self, form: Form) -> int:
        """The first segment that can read a form."""
        tensor = self.units.values[form.key].tensor
        if appends := self._appends(form):
            return max(self._form(each) for append in appends for each in append.reads())
        if tensor in self.segment_of and form.role in self.made[tensor]:
            return self.segment_of[tensor]
        self.converted[form] = self._level(tensor)
        return self.converted[form]

    def _appends(self, form: Form) -> list[Append]:
        """All that is appended to the cache that a form is; nothing, if it is none."""
        read = self.units.units.get(self.units.values[form.key].tensor)
        if not isinstance(read, Append):
            return []
        return [unit for unit in self.units.of(Append) if unit.cache == read.cache]

    def _level(self, tensor: str) -> int:
        """The first segment before which the host has a tensor."""
        if tensor in self.segment_of:
            return self.segment_of[tensor] + 1
        return self.levels.get(tensor, 0)
