"""The rows that an operation names, as its command says it: before they are known to exist."""

from functools import reduce
from operator import or_
from typing import NamedTuple

from amaranth import Const, Module, Mux, Signal
from amaranth.hdl import Value

from celosia.hw.decode.ops import Space
from celosia.isa.address import ROW_BITS
from celosia.isa.config import AcceleratorConfig

__all__ = ["Hull", "Span", "blocks_of", "rows_apart", "rows_of_blocks", "space_of"]


class Span(NamedTuple):
    """The rows of a hull: from `row` to below ``row + lines + (steps - spare) * stride``."""

    row: Value
    lines: Value
    steps: Value = Const(0, 0)
    spare: Value = Const(0, 1)
    stride: Value = Const(0, 0)


class Hull:
    """Local rows that an operation names, in registers that a stage of the decoder fills.

    One multiplier serves all commands.  It ends in two halves that are not added yet: the sum would
    be the longest path of the decoder, and the next stage adds anyway.

    `valid` and `space` are registers; `choose` says which rows they are, once for each command.
    Then `reach` computes, and `keep` puts it into registers.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.valid = self._register(1, "valid")
        self.space = self._register(Space, "space")
        self.row = self._register(ROW_BITS, "row")
        self._choices: list[tuple[Value, Span]] = []

    def choose(self, chosen: Value, span: Span) -> None:
        """Be the rows of `span` if `chosen`; at most one may be, of all calls."""
        self._choices.append((chosen, span))

    def reach(self, m: Module) -> None:
        """Compute first row and reach.  Call it where `m` has no conditions, which would delay."""
        row, lines, steps, spare, stride = (
            self._combined(m, field, self._chosen(field)) for field in Span._fields
        )
        self._half = max(0, len(steps) // 2 - 1)  # The lower half also subtracts.
        lower = steps[: self._half] * stride - Mux(spare, stride, 0)
        values = {
            "behind": row + lines,
            "low": self._combined(m, "lower", lower),
            "high": self._combined(m, "upper", steps[self._half :] * stride),
        }
        registers = [self._register(value.shape(), name) for name, value in values.items()]
        self._behind, self._low, self._high = registers
        self._parts = [(self.row, row), *zip(registers, values.values(), strict=True)]

    def keep(self, m: Module) -> None:
        """Assign what was computed, under the conditions that `m` has here."""
        m.d.sync += [register.eq(value) for register, value in self._parts]

    @property
    def product(self) -> Value:
        """The steps times the stride."""
        return self._low + (self._high << self._half)

    @property
    def end(self) -> Value:
        """The row behind the last one; of no meaning if nothing is named."""
        return (self._behind + self.product).as_unsigned()

    def _chosen(self, field: str) -> Value:
        values = [Mux(chosen, getattr(span, field), 0) for chosen, span in self._choices]
        return reduce(or_, values)

    def _combined(self, m: Module, name: str, value: Value) -> Signal:
        signal = Signal(value.shape(), name=f"next_{self._name}_{name}")
        m.d.comb += signal.eq(value)
        return signal

    def _register(self, shape, field: str) -> Signal:
        return Signal(shape, name=f"{self._name}_{field}", reset_less=True)


def rows_of_blocks(
    config: AcceleratorConfig, row: Value, lines: Value, cols: Value, stride: Value
) -> Span:
    """`lines` rows in each block of ``dim`` of `cols` columns, `stride` from block to block.

    The last block is column ``cols - 1``'s, without the carry chain of a subtraction.
    """
    bits = _column_bits(config)
    return Span(row[:ROW_BITS], lines, cols >> bits, cols[:bits] == 0, stride)


def rows_apart(row: Value, lines: Value, stride: Value) -> Span:
    """`lines` rows, `stride` from one to the next."""
    return Span(row[:ROW_BITS], Const(1, 1), lines, Const(1, 1), stride)


def space_of(accumulator: Value) -> Value:
    """The memory that a local address names."""
    return Mux(accumulator, Value.cast(Space.ACCUMULATOR), Value.cast(Space.SCRATCHPAD))


def blocks_of(config: AcceleratorConfig, cols: Value) -> Value:
    """Blocks of ``dim`` columns, the last one perhaps short."""
    return (cols + (config.dim - 1)) >> _column_bits(config)


def _column_bits(config: AcceleratorConfig) -> int:
    return (config.dim - 1).bit_length()
