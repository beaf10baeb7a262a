"""What a program means: its operations one after the other, on NumPy arrays of local rows.

Order among operations on local rows is that of the program.  A store reaches memory as late as it
may: when a load says that it comes after it, or at the end.  So a load that does not say for which
stores it waits reads what was in memory before.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa import numerics
from celosia.isa.address import LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import WeightType
from celosia.isa.execution.memories import LocalMemories
from celosia.isa.execution.products import execute_product
from celosia.isa.execution.transform import execute_transform
from celosia.isa.operations.operations import Operand, Product
from celosia.isa.operations.transforms import Transform as Operation
from celosia.sw.ir.graph import Tensor, View
from celosia.sw.ir.packing import packed
from celosia.sw.ir.program import (
    Drain,
    Load,
    LoadParameters,
    Op,
    Products,
    Store,
    Transform,
)
from celosia.sw.ir.transform_interpret import local_rows, operation_of

__all__ = ["UNWRITTEN", "Array", "interpret"]

Array = NDArray[Any]

UNWRITTEN: Final = 0xA5
"""Every byte of a tensor that no store has reached, and of local rows at first."""


def interpret(
    ops: Iterable[Op],
    config: AcceleratorConfig,
    tensors: Mapping[str, Tensor],
    values: Mapping[str, Array],
    *,
    eager: bool = False,
) -> dict[str, Array]:
    """What a well-formed program leaves behind of each tensor that is not one of `values`.

    `values` are inputs and constants.  Tensors that stay on the chip remain unwritten.  Stores that
    are `eager` reach memory at once.
    """
    machine = _Machine(config, tensors, values)
    for op in ops:
        machine.take(op)
        if eager:
            machine.drain(None)
    machine.drain(None)
    return {name: machine.values[name] for name in tensors if name not in values}


class _Machine:
    """The interpreter's state: the memories as the operations so far leave them."""

    def __init__(
        self,
        config: AcceleratorConfig,
        tensors: Mapping[str, Tensor],
        values: Mapping[str, Array],
    ):
        self.local = LocalMemories(config, fill=UNWRITTEN)
        self.tensors = tensors
        self.complete = np.zeros(config.statistics_rows, np.bool_)
        """Whether the sums of a slot are those of a whole row."""
        self.values: dict[str, Array] = dict(values)
        for name, tensor in tensors.items():
            if name not in values:
                poison = np.full(tensor.bytes, UNWRITTEN, np.uint8).view(tensor.type)
                self.values[name] = poison.reshape(tensor.shape)
        self.under_way: deque[tuple[View, Array]] = deque()
        """What stores have sent off."""
        self.stored = 0
        """Stores that have reached memory."""

    def take(self, op: Op) -> None:
        match op:
            case Load():
                self.drain(op.after)
                values = self.values[op.view.tensor][op.view.slices]
                packing = self.tensors[op.view.tensor].packing
                self.local.put(local_rows(op.to), packed(values, packing, self.local.dim))
            case LoadParameters():
                self.local.put_parameters(op.to.row, self.values[op.view.tensor][op.view.slices])
            case Products():
                for each in op.each(self.local.dim):
                    self._multiply(each)
            case Transform():
                self._transform(operation_of(op))
            case Store():
                self.under_way.append((op.view, self._drained(op)))

    def _drained(self, op: Store) -> Array:
        """What a store takes to memory."""
        drain, view, place = op.drain, op.view, local_rows(op.source)
        if drain == Drain():
            return self.local.get(place, view.rows, view.cols, self.values[view.tensor].dtype)
        sums = self.local.get(place, view.rows, view.cols, np.int32)
        if drain.bias_row is not None:
            bias = self.local.parameter_vector(drain.bias_row, view.cols)
            sums = numerics.wrap32(sums.astype(np.int64) + bias)
        if drain.scale is None:
            return sums
        kind = self.values[view.tensor].dtype
        return numerics.requantize_to(sums, drain.scale, kind, rectify=drain.relu)

    def drain(self, count: int | None) -> None:
        """Let the program's first `count` stores reach memory; None: all of them."""
        while self.under_way and (count is None or self.stored < count):
            view, value = self.under_way.popleft()
            self.values[view.tensor][view.slices] = value
            self.stored += 1

    def _transform(self, operation: Operation) -> None:
        first = operation.setting("statistics")
        slots = slice(first, first + operation.rows)
        if operation.rules.facts and not self.complete[slots].all():
            raise ValueError(f"statistics of slots {first}..{slots.stop - 1} are not complete")
        execute_transform(operation, self.local)
        if operation.rules.counted or operation.counts_moments:
            self.complete[slots] = bool(operation.setting("finish"))

    def _multiply(self, op: Products) -> None:
        a = Operand(local=LocalAddress(row=op.a), rows=op.rows, cols=op.last_depth)
        int4 = op.w_type is WeightType.INT4
        w = Operand(
            local=LocalAddress(row=op.w),
            rows=op.last_depth,
            cols=op.last_cols,
            transposed=op.w_transposed,
            fold=op.w_type.tile_rows(self.local.dim) if int4 else None,
        )
        c = LocalAddress(row=op.c, accumulator=True, accumulate=op.accumulate)
        product = Product(
            load_weights=True,
            a=a,
            w=w,
            d=None,
            c=Operand(local=c, rows=op.rows, cols=op.last_cols),
            a_unsigned=op.a_unsigned,
            relu=False,
        )
        execute_product(product, self.local)
