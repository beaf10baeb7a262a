"""Pixel repeats: rows that are loaded once, and written to several places."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, stream

from celosia.hw.lib.fields import field_signals
from celosia.isa.config import AcceleratorConfig

__all__ = ["RowCopies", "row_copies"]


class RowCopies:
    """Copies of the row on offer to the scratchpad: none."""

    def begin(self, m: Module, info: data.View) -> None:
        """A row with this `info` will be on offer in the next cycle."""

    def offer(
        self,
        m: Module,
        accepted: Value,
        row: Signal,
        mask: Value,
        elements: list[Signal],
        port: stream.Interface,
    ) -> Value:
        """Offer copies of a row, too.  Returns whether the last one is accepted."""
        return accepted


class _PixelRepeats(RowCopies):
    """As many as a load says, each a row less and some columns further.

    Rows below the first one of the memory's half are left out.
    """

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self._state = field_signals(
            data.StructLayout({
                "copies": range(config.dim),  # After this one.
                "cols": range(config.dim),  # From one to the next.
                "left": range(config.dim),  # Columns before this one.
            }),
            "copy",
        )

    def begin(self, m: Module, info: data.View) -> None:
        state = self._state
        m.d.sync += [
            state.copies.eq(info.copies),
            state.cols.eq(info.cols),
            state.left.eq(0),
        ]

    def offer(
        self,
        m: Module,
        accepted: Value,
        row: Signal,
        mask: Value,
        elements: list[Signal],
        port: stream.Interface,
    ) -> Value:
        state = self._state
        half = (self.config.scratchpad_rows // 2).bit_length() - 1
        again = (state.copies != 0) & (row[:half] != 0)
        with m.If(accepted & again):
            m.d.sync += [
                state.copies.eq(state.copies - 1),
                state.left.eq(state.left + state.cols),
                row.eq(row - 1),
            ]
        with m.If(port.valid & (state.left != 0)):
            m.d.comb += port.p.mask.eq(mask << state.left)
            with m.Switch(state.left):
                for left in range(1, self.config.dim):
                    with m.Case(left):
                        m.d.comb += [
                            port.p.data[lane].eq(elements[lane - left])
                            for lane in range(left, self.config.dim)
                        ]
        return accepted & ~again


def row_copies(config: AcceleratorConfig) -> RowCopies:
    """What `config` has of them."""
    return _PixelRepeats(config) if config.convolution else RowCopies()
