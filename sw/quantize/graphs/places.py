"""Where the forms of a segment are: in tensors of the integer graph, or in rows of a cache."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import MAX_REQUEST_BYTES
from celosia.sw.frontend.nn.operators.operator import expect
from celosia.sw.ir.graph import Scale, Tensor, View
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.quantize.graphs.formats import Format, Formats
from celosia.sw.quantize.units.homes import Home, find_homes
from celosia.sw.quantize.units.joins import joined_forms
from celosia.sw.quantize.units.segments import GivenRows, Keys, Segment, Segments
from celosia.sw.quantize.units.units import Append, Attention, Join, Unit
from celosia.sw.quantize.units.values import Form, Role, Value

__all__ = ["Emit", "Places", "is_one", "only"]

Emit = Mapping[type[Unit], Callable[["Places", str, Any], None]]
"""What adds a unit to a segment, whose operators' names begin with its own, by its kind."""

_BURST: Final = MAX_REQUEST_BYTES
"""Columns of a product that the host reads are a multiple of this: rows of its weights are whole
bursts."""


class Places:
    """The tensors of one segment, and what of them is given, or appended to caches."""

    def __init__(
        self,
        segments: Segments,
        formats: Formats,
        forms: dict[Form, Format],
        number: int,
        *,
        named: bool,
        moving: bool,
    ):
        self.segments, self.formats, self.forms = segments, formats, forms
        self.named, self.moving = named, moving
        self.builder = GraphBuilder(f"{segments.graph.name}, segment {number}")
        self.types = segments.graph.types()
        self.views: dict[Form, View] = {}
        self.joined = joined_forms(segments)
        self.homes: dict[Form, list[Home]] = {}
        """Where forms are that have no tensor of their own."""
        self.appended: dict[str, list[Append]] = {}
        """What is appended to caches, by the key of the value that it is of."""
        for unit in segments.units.of(Append):
            if segments.segment_of[unit.value.tensor] == number == segments.source_of(unit):
                self.appended.setdefault(unit.parts[0].tensor, []).append(unit)
        self.keys: dict[str, Keys] = {}
        self.operators: dict[str, str] = {}
        self.gelus: dict[str, float] = {}
        self.halves: dict[View, View] = {}
        """The bytes of what products read as int16."""
        self.fine: dict[str, View] = {}
        """The bytes of values that have two, by the value's key: for each head high ones, then low
        ones."""
        self.given: list[GivenRows] = []
        self.caches: dict[str, str] = {}
        self.inputs: dict[str, Form] = {}
        self.made: dict[str, Form] = {}
        self.origins = {node.name: node.origin for node in segments.graph.nodes}
        self.names = {key: f"{place}" for place, key in enumerate(segments.units.values)}
        if named:
            for key, value in segments.units.values.items():
                self.names[key] = self.origins.get(value.tensor, value.tensor)

    def begin(self, unit: Unit) -> str:
        """What operators of a unit are called, which are added next."""
        name, tensor = self.names[unit.value.key], unit.value.tensor
        self.operators[name] = self.origins.get(tensor) or tensor
        return name

    def finish(self, wanted: set[Form]) -> Segment:
        """The segment, whose outputs are those of its forms that are `wanted`."""
        outputs = {name: form for name, form in self.made.items() if form in wanted}
        return Segment(
            graph=self.builder.finish(*outputs),
            inputs=self.inputs,
            outputs=outputs,
            keys=self.keys,
            operators=self.operators,
            gelus=self.gelus,
            caches=self.caches,
            given=tuple(self.given),
            made=self.made,
        )

    def format(self, form: Form) -> Format:
        """The format of a form."""
        return self.forms[form]

    def tensor(self, form: Form) -> Tensor:
        """The tensor that a form is, if it has one of its own."""
        found = self.format(form)
        value = self.segments.units.values[form.key]
        rows, cols = value.shape(self.types[value.tensor])
        if form.role == "sums" and self.segments.host_alone(value.tensor):
            cols += -cols % _BURST
        same = (found.steps == found.steps[0]).all()
        step = float(found.steps[0]) if same else None
        attends = isinstance(self.segments.units.units.get(value.tensor), Attention)
        name = f"{self.names[form.key]}{'.context' * attends}.{form.role}"
        return Tensor(name, found.type, rows, cols, step, found.zero_point)

    def out(self, value: Value, role: Role) -> View:
        """Where a form is written: in a tensor of its own, or in what it is a part of."""
        form = Form(value.key, role)
        if (joined := self.joined.get(form)) is not None:
            values, place = self.segments.units.values, joined.place
            whole = self.views.get(joined.whole) or self.out(values[joined.whole.key], role)
            self.views[form] = replace(place, tensor=whole.tensor)
            return self.views[form]
        tensor = self.tensor(form)
        self.views[form] = self.builder.tensor(tensor)
        self.made[tensor.name] = form
        return self.views[form]

    def join(self, _name: str, unit: Join) -> None:
        """Nothing but a name: what makes the parts has written them."""

    def homes_of(self, value: Value) -> list[Home]:
        """Where the heads of a value are written that is appended to caches."""
        form = Form(value.key, "heads")
        tensor = self.tensor(form)

        def own(cols: int, first: int) -> View:
            name = f"{tensor.name}.{first}"
            return self.builder.tensor(replace(tensor, name=name, cols=cols, step=None))

        appends = self.appended[value.key]
        self.homes[form] = [*find_homes(tensor.shape, appends, self._cache, own)]
        return self.homes[form]

    def row_homes(self, value: Value, role: Role) -> list[tuple[int, View]]:
        """Where rows of a value are written, each with the first of them."""
        if role != "heads" or value.key not in self.appended:
            return [(0, self.out(value, role))]
        found = []
        for unit in self.appended[value.key]:
            (part, *more), shape = unit.parts, self.tensor(Form(value.key, role)).shape
            whole = not more and (part.col, part.cols) == (0, shape[1])
            expect(whole, f"{value.tensor}: some of its columns are appended to a cache")
            found.append((part.row, self._cache(unit).part(row=unit.first, rows=part.rows)))
        return found

    def _cache(self, unit: Append) -> View:
        """The cache that a unit appends to."""
        form = Form(unit.cache, "heads")
        if form not in self.views:
            part = unit.parts[0]
            name = f"{self.names[part.tensor]}.cache"
            name += f".{part.col}" * (name in self.caches)
            tensor = replace(self.tensor(Form(unit.value.key, "heads")), name=name, cache=True)
            self.views[form] = self.builder.input(tensor)
            self.caches[name] = unit.cache
        return self.views[form]

    def append(self, _name: str, unit: Append) -> None:
        """Nothing but a name: what makes the rows has written them, or the host will."""
        cache, form = self._cache(unit), Form(unit.parts[0].tensor, "heads")
        self.views[Form(unit.value.key, "heads")] = cache
        if unit.parts[0].tensor not in self.appended:
            self.given.append(GivenRows(cache.tensor, unit.first, form, unit.parts))

    def read(self, view: View, role: Role) -> View:
        """A rectangle of a value in a role."""
        form = Form(view.tensor, role)
        if form in self.homes:
            return next(part for home in self.homes[form] if (part := home.part(view)))
        if form not in self.views:
            tensor = self.tensor(form)
            self.views[form] = self.builder.input(tensor)
            self.inputs[tensor.name] = form
        return self.views[form].part(row=view.row, rows=view.rows, col=view.col, cols=view.cols)

    def scale(self, name: str, steps: NDArray[np.float64]) -> Scale:
        """A scale for each column, which is a constant, or the one of all."""
        if self.formats.per_tensor:
            return only(steps)
        return self.builder.constant(name, steps.astype(np.float32)[np.newaxis])

    def steps(self, view: View, role: Role) -> NDArray[np.float64]:
        """What 1 stands for in each column of a rectangle of a value."""
        return self.format(Form(view.tensor, role)).steps[view.col : view.col + view.cols]


_SAME: Final = 1e-6
"""Scales that differ by less than this are the same one."""


def is_one(scales: NDArray[np.float64]) -> bool:
    """Whether all columns have one scale, but for roundings."""
    return bool(np.ptp(scales) <= _SAME * scales.max())


def only(scales: NDArray[np.float64]) -> float:
    """The one scale that all columns have.  Raises `GraphError` if theirs differ."""
    expect(is_one(scales), "columns have scales of their own")
    return float(scales[0])
