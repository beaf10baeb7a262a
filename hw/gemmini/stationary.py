"""Output-stationary products: hooks of those who bring weights and send results."""

from typing import Any

from amaranth import Const, Module, Mux, Signal, Value

from celosia.hw.gemmini.resident import ResidentSums
from celosia.isa.config import AcceleratorConfig

__all__ = ["SumsStay", "where_sums_stay"]


def where_sums_stay(config: AcceleratorConfig, condition: Value) -> Value:
    """`condition`, which can only hold where products may be output-stationary."""
    return condition if config.output_stationary else Const(0)


class SumsStay:
    """`ResidentSums` between the array and its results, where there are any."""

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self._leaves = Signal()  # The row that is due goes to C.

    def enter(
        self, m: Module, due: Value, later: Value, product: Any, elements: list[Signal]
    ) -> list[Signal]:
        """Where rows come in that leave on `elements`.

        A row of `product` is `due` in the next cycle, and is not the first one if `later`.
        """
        if not self.config.output_stationary:
            return elements
        m.submodules.resident = resident = ResidentSums(self.config)
        index = Signal(range(self.config.dim))  # Of the row, from the second one on.
        row, control = Mux(later, index, 0), resident.control
        m.d.comb += [
            control.valid.eq(due),
            control.resident.eq(product.resident),
            control.start.eq(product.start),
            control.index.eq(row),
            control.shift.eq(product.shift),
        ]
        with m.If(due):
            m.d.sync += index.eq(row + 1)
        m.d.comb += self._leaves.eq(~product.resident | (row < product.kept))
        m.d.comb += [out.eq(each) for out, each in zip(elements, resident.elements, strict=True)]
        return resident.rows

    def leave(
        self, m: Module, ends: Value, due: Value, row: Value, product: Any
    ) -> tuple[Value, Value, Value, Any, Value]:
        """What is said of a row, `ResidentSums.LATENCY` later; and whether a product is held here.

        Rows that do not leave write no elements.
        """
        if not self.config.output_stationary:
            return ends, due, row, product, Const(0)
        s1_ends, s1_due = Signal(), Signal()
        s1_row = Signal(row.shape(), reset_less=True)
        s1_product: Any = Signal(product.shape(), reset_less=True)
        m.d.sync += [s1_ends.eq(ends), s1_due.eq(due)]
        with m.If(due):
            m.d.sync += [s1_row.eq(row), s1_product.eq(product)]
            with m.If(~self._leaves):
                m.d.sync += s1_product.mask.eq(0)
        return s1_ends, s1_due, s1_row, s1_product, s1_ends
