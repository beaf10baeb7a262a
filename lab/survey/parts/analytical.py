"""The survey's analytical model (its section 3.3): bytes by square tiles, and the slower resource.

Each operator is alone, reads its operands from memory and writes its result there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, isqrt
from typing import Any

from celosia.lab.survey.parts.operators import Elementwise, Operator, Product
from celosia.sw.reference.encoder import EncoderShape

__all__ = ["PASSES", "Cost", "Machine"]

PASSES: Mapping[str, int] = {"softmax": 3, "layernorm": 2, "gelu": 1, "residual": 1}
"""How often the vector unit goes through the elements; the survey does not say."""
_BUFFERS = 2
"""Each operand's place is there twice, so that transfers go on beside computation."""


@dataclass(frozen=True)
class Cost:
    """Cycles of an operator on each resource."""

    compute: float
    dram: float
    local: float

    @property
    def cycles(self) -> float:
        """All three at once, as the survey writes it."""
        return max(self.compute, self.dram, self.local)

    @property
    def serial_cycles(self) -> float:
        """Only the scratchpad has two buffers: L2 is filled first."""
        return self.dram + max(self.compute, self.local)


@dataclass(frozen=True)
class Machine:
    """The machine that the model assumes."""

    width: int
    dram_bytes_per_cycle: int
    l2_bytes_per_cycle: int
    l2_kib: int
    scratchpad_kib: int
    accumulator_kib: int

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> "Machine":
        """The machine of a table of the survey's numbers."""
        return cls(**{name: value for name, value in table.items() if name != "where"})

    @cached_property
    def l2_tile(self) -> int:
        """Rows and columns of a square tile of bytes that fits half of L2."""
        return isqrt(1024 * self.l2_kib // _BUFFERS)

    @cached_property
    def local_tile(self) -> int:
        """Rows and columns of a square tile: two operands, and its int32 sums, each twice."""
        operands = isqrt(1024 * self.scratchpad_kib // (2 * _BUFFERS))
        sums = isqrt(1024 * self.accumulator_kib // (4 * _BUFFERS))
        return min(operands, sums) // self.width * self.width

    def dram_bytes(self, op: Operator) -> int:
        """Bytes between DRAM and L2, each element of a bias or of a residual stream a byte."""
        return _bytes(op, self.l2_tile)

    def cost(self, op: Operator) -> Cost:
        """Cycles of `op`."""
        if isinstance(op, Product):
            tiles = op.count * ceil(op.depth / self.width) * ceil(op.cols / self.width)
            compute = tiles * max(op.rows, self.width)
        else:
            compute = PASSES[op.name] * ceil(op.size / self.width)
        return Cost(
            compute=compute,
            dram=_bytes(op, self.l2_tile) / self.dram_bytes_per_cycle,
            local=_bytes(op, self.local_tile) / self.l2_bytes_per_cycle,
        )

    def cycles(self, operators: Iterable[Operator], *, serial: bool = False) -> float:
        """Cycles of all, one after the other; `serial`: L2 is filled before each."""
        costs = [self.cost(op) for op in operators]
        return sum(cost.serial_cycles if serial else cost.cycles for cost in costs)

    def model_cycles(self, shape: EncoderShape, layer: Iterable[Operator], **more: bool) -> float:
        """Cycles of all layers of a model, out of the operators of one."""
        return shape.layers * self.cycles(layer, **more)


def _bytes(op: Operator, tile: int) -> int:
    if isinstance(op, Elementwise):
        return op.size * ((4 if op.wide else op.inputs) + 1) + op.parameters
    a = op.rows * op.depth * ceil(op.cols / tile)
    b = op.depth * op.cols * ceil(op.rows / tile)
    c = op.rows * op.cols * ((4 if op.wide else 1) + op.bias)
    return op.count * (a + b + c)
