"""A pipeline pass by pass: the text of each level, read back, executed and compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from celosia.lab.substitute.graph_texts import level_of
from celosia.lab.substitute.lowering.execute import Left, drawn_inputs, execute
from celosia.lab.substitute.lowering.passes import LevelPass, Setting, State
from celosia.sim.support.extras import import_extra
from celosia.sim.support.words import counted
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.recognize.prove import worst
from celosia.sw.ir.graph import Graph
from celosia.sw.mlir.operation import print_operation
from celosia.sw.mlir.same import differing
from celosia.sw.models.lowering.levels import COMMANDS, PLAN, Lowered
from celosia.sw.models.lowering.print import AnyLevel, level_operation
from celosia.sw.models.lowering.read import level_of_operation
from celosia.sw.quantize.graphs.quantized import QuantizedGraph

__all__ = ["Step", "read_back", "run_pipeline"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """What a pass has left."""

    name: str
    value: AnyLevel
    notes: tuple[str, ...]
    found: tuple[str, ...] = ()
    """What reading the text back and executing it has shown, where that was asked for."""
    wrong: bool = False
    """Whether something of it is not as before."""

    @property
    def summary(self) -> str:
        """Level and size of what is left."""
        return f"{level_of(self.value)}, {_size(self.value)}"


def read_back(value: AnyLevel) -> AnyLevel:
    """A value through its text, parsed by xDSL.

    Raises `EnvironmentProblem` where xDSL is missing, and `ValueError` for what it refuses.
    """
    dialects = import_extra("celosia.sw.models.dialects.levels", "compiler")
    operation, arrays = level_operation(value)
    return level_of_operation(dialects.parse_level(print_operation(operation)), arrays)


def run_pipeline(
    passes: Sequence[LevelPass],
    state: State,
    setting: Setting,
    *,
    interpret: bool,
    inputs: Mapping[str, Array] | None = None,
) -> Iterator[Step]:
    """What each pass leaves, the value in `state` first where it has one.

    With `interpret`, it is read back from its text and executed on `inputs`, or random ones, and
    the next pass takes what was read.  Raises `ValueError` for what a pass refuses.
    """
    before: Left | None = None
    if state.value is not None and interpret:
        inputs = inputs or drawn_inputs(state.value, 0)
        before = execute(state.value, inputs)
    for each in passes:
        setting.tell(each.name, None)
        floats = isinstance(state.value, FloatGraph)
        state = each.apply(state, setting)
        assert state.value is not None
        step = Step(name=each.name, value=state.value, notes=state.notes)
        if interpret:
            back = read_back(state.value)
            inputs = inputs or drawn_inputs(back, 0)
            left = execute(back, inputs)
            place = differing(state.value, back)
            same = _same(before, left, floats=isinstance(back, FloatGraph), floats_before=floats)
            step = replace(
                step,
                found=(
                    "its text reads back as it was"
                    if place is None
                    else f"its text reads back as another value: {place}",
                    same.text,
                ),
                wrong=place is not None or same.wrong,
            )
            state, before = replace(state, value=back), left
        yield step


@dataclass(frozen=True)
class _Same:
    text: str
    wrong: bool = False


def _same(before: Left | None, left: Left, *, floats: bool, floats_before: bool) -> _Same:
    """What one level leaves behind, compared with the level before it."""
    if before is None:
        return _Same("executed")
    if floats:
        for name, value in before.outputs.items():
            if (reason := worst(value, left.outputs[name])) is not None:
                return _Same(f"output {name} is another one than before: {reason}", wrong=True)
        return _Same("executed in float64: within the tolerance of proofs of what was before")
    if floats_before:
        errors = [_error(before.outputs[name], value) for name, value in left.outputs.items()]
        return _Same(f"executed: at most {max(errors, default=0):.2g} of the largest element off")
    both = [(name, left.tensors[name]) for name in left.tensors if name in before.tensors]
    pairs = [(name, before.tensors[name], value) for name, value in both]
    pairs += [(name, before.outputs[name], value) for name, value in left.outputs.items()]
    for name, one, other in pairs:
        if one.dtype != other.dtype or one.tobytes() != other.tobytes():
            wrong = np.count_nonzero(one != other)
            return _Same(f"{wrong:,} of {one.size:,} elements of {name} differ", wrong=True)
    return _Same(f"executed: the same bits in {counted(len(pairs), 'tensor')}")


def _error(expected: Array, found: Array) -> float:
    """The largest difference, relative to the largest element; of other than floats, 1 or 0."""
    if expected.dtype.kind != "f":
        return float((expected != found).any())
    size = max(float(np.abs(expected).max(initial=0)), 1e-30)
    return float(np.abs(expected - found).max(initial=0)) / size


def _size(value: AnyLevel) -> str:
    """How much there is of a value."""
    match value:
        case FloatGraph():
            return counted(len(value.nodes), "operator")
        case Graph():
            return counted(len(value.ops), "operator")
        case QuantizedGraph():
            ops = sum(len(segment.graph.ops) for segment in value.segments)
            host = counted(sum(value.host_operators.values()), "operator")
            segments = counted(len(value.segments), "segment")
            return f"{counted(ops, 'operator')} in {segments}, {host} of the host"
        case Lowered():
            what, counts = _counts(value)
            return counted(sum(counts), what)


def _counts(value: Lowered) -> tuple[str, list[int]]:
    if value.level == PLAN:
        return "stage", [len(each.plan.stages) for each in value.graphs]
    if value.level == COMMANDS:
        return "command", [len(each.program) for each in value.graphs]
    return "operation", [len(each.ops) for each in value.graphs]
