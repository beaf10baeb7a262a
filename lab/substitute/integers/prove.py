"""Proves by numbers that an edit leaves the same integers behind: bit for bit, on random inputs."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from celosia.lab.substitute.integers.edit import Edit, Moved
from celosia.lab.substitute.integers.reader import IntegerReader
from celosia.sw.ir.graph import DivideBySums, Graph, Op, Tensor
from celosia.sw.ir.graph_interpret import Array, Machine

__all__ = ["difference", "random_tensor"]

_ROUNDS: Final = 2
_SUMS: Final = 1 << 20
"""Magnitude of int32 sums of an ordinary product."""


def difference(reader: IntegerReader, edit: Edit) -> str | None:
    """Where what comes leaves other elements than what goes; None if nowhere.

    Only elements are compared that others read, and outputs.
    """
    given = _given(reader, edit)
    for seed in range(_ROUNDS):
        random = np.random.default_rng(seed)
        divisors = _divisors(edit.removed)
        inputs = {
            name: random_tensor(random, tensor, positive=name in divisors)
            for name, tensor in given.items()
        }
        try:
            before = _values(reader.graph, edit.removed, inputs, {}, ())
            after = _values(reader.graph, edit.added, inputs, edit.constants, edit.tensors)
        except (KeyError, ValueError, IndexError) as error:
            return f"it has no replacement: {error}"
        reason = _differing(reader, edit, before, after)
        if reason is not None:
            return reason
    return None


def random_tensor(random: np.random.Generator, tensor: Tensor, *, positive: bool = False) -> Array:
    """Integers of all sizes that a tensor can have."""
    if tensor.type == "int32":
        low = 1 if positive else -_SUMS
        return random.integers(low, _SUMS, tensor.shape).astype(np.int32)
    info = np.iinfo(tensor.type)
    return random.integers(info.min, info.max, tensor.shape, endpoint=True).astype(tensor.type)


def _divisors(ops: Sequence[Op]) -> set[str]:
    """Tensors that rows are divided by: they are never 0."""
    finishes = (getattr(op, "finish", None) for op in ops)
    return {finish.sums.tensor for finish in finishes if isinstance(finish, DivideBySums)}


def _given(reader: IntegerReader, edit: Edit) -> dict[str, Tensor]:
    """The tensors that an edit's operators read and others compute."""
    graph = reader.graph
    made = {view.tensor for op in edit.removed for view in op.results}
    named = [view.tensor for op in (*edit.removed, *edit.added) for view in op.operands]
    own = {tensor.name for tensor in edit.tensors}
    read = {name for name in named if name not in graph.constants and name not in own}
    outside = {
        name for name in read & made if any(op not in edit.removed for op in reader.writers[name])
    }
    return {name: graph.tensors[name] for name in (read - made) | outside}


def _values(
    graph: Graph,
    ops: Sequence[Op],
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array],
    tensors: Sequence[Tensor],
) -> dict[str, Array]:
    """What operators leave behind."""
    known = {**graph.tensors, **{tensor.name: tensor for tensor in tensors}}
    values = {**graph.constants, **constants}
    names = {view.tensor for op in ops for view in (*op.operands, *op.results)}
    part = Graph(
        name="part",
        tensors={name: known[name] for name in names | inputs.keys()},
        inputs=tuple(inputs),
        outputs=(),
        ops=tuple(ops),
        constants={name: values[name] for name in names & values.keys()},
    )
    machine = Machine(part, {name: value.copy() for name, value in inputs.items()})
    for op in ops:
        machine.take(op)
    return machine.values


def _differing(
    reader: IntegerReader, edit: Edit, before: dict[str, Array], after: dict[str, Array]
) -> str | None:
    gone = [op.name for op in edit.removed]
    for name in dict.fromkeys(view.tensor for op in edit.removed for view in op.results):
        written = np.zeros(reader.graph.tensors[name].shape, np.bool_)
        for op in edit.removed:
            for view in op.results:
                if view.tensor == name:
                    written[view.slices] = True
        wanted = reader.wanted(name, gone) & written
        for part in edit.moved.get(name, (Moved.by(name, wanted.shape),)):
            rows, cols = np.nonzero(wanted & (part.cols >= 0))
            if not rows.size:
                continue
            if part.tensor not in after:
                return f"nothing computes {name} any more"
            found = after[part.tensor][part.rows[rows], part.cols[cols]]
            wrong = np.count_nonzero(found != before[name][rows, cols])
            if wrong or found.dtype != before[name].dtype:
                return f"{wrong:,} of {rows.size:,} elements of {name} differ"
    return None
