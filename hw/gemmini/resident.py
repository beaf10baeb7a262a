"""The sums of output-stationary products, which stay beside the array."""

from amaranth import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.fields import chunk_registers
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import SHIFT_BITS

__all__ = ["ResidentControl", "ResidentSums"]

ELEMENT_BITS = 32


class ResidentControl(data.StructLayout):
    """What becomes of the row that is there in the next cycle."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "valid": 1,
            "resident": 1,  # Add the row that stays, and keep the sum.
            "start": 1,  # The row that stays counts as zeros.
            "index": range(config.dim),  # Which row stays.
            "shift": unsigned(SHIFT_BITS),
        })


class ResidentSums(wiring.Component):
    """Adds rows to those of a memory of ``dim`` rows of int32, and shifts what leaves.

    A row comes on ``rows`` one cycle after its control, and leaves on ``elements`` `LATENCY` cycles
    after it came, one per cycle; nothing stalls.  A row that is ``resident`` is added to its row of
    the memory (sums wrap at 32 bits), is kept there, and leaves as
    `celosia.isa.numerics.round_shift` by ``shift``; any other passes.  A row of the memory may be
    used again two cycles later.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``.

    Members
    -------
    control : ``In(ResidentControl(config))``
        What becomes of the row of the next cycle.
    rows : ``In(signed(32)).array(dim)``
        Rows that come from the array.
    elements : ``Out(signed(32)).array(dim)``
        Rows that leave.
    """

    LATENCY = 1

    control: data.View
    rows: list[Signal]
    elements: list[Signal]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "control": In(ResidentControl(config)),
            "rows": In(signed(ELEMENT_BITS)).array(config.dim),
            "elements": Out(signed(ELEMENT_BITS)).array(config.dim),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        dim, control = self.config.dim, self.control
        bits = ELEMENT_BITS * dim
        m.submodules.memory = memory = Memory(shape=unsigned(bits), depth=dim, init=[])
        read, write = memory.read_port(), memory.write_port()
        m.d.comb += [read.addr.eq(control.index), read.en.eq(0), write.en.eq(0)]

        # Stage 1, with the row: add and keep.
        s1_valid, s1_resident, s1_start = Signal(), Signal(), Signal(reset_less=True)
        s1_index = Signal.like(control.index, reset_less=True)
        s1_shift = Signal.like(control.shift, reset_less=True)
        m.d.sync += [s1_valid.eq(control.valid), s1_resident.eq(control.valid & control.resident)]
        with m.If(control.valid & control.resident):
            m.d.comb += read.en.eq(1)
            m.d.sync += [
                s1_start.eq(control.start),
                s1_index.eq(control.index),
                s1_shift.eq(control.shift),
            ]
        totals = Signal(bits)
        m.d.comb += totals.eq(Cat(self.rows))
        with m.If(s1_resident):
            m.d.comb += [
                totals.eq(Cat(self._total(lane, read.data, s1_start) for lane in range(dim))),
                write.en.eq(1),
            ]
        m.d.comb += [write.addr.eq(s1_index), write.data.eq(totals)]

        # Stage 2: shift.
        s2_resident = Signal()
        s2_shift = Signal.like(control.shift, reset_less=True)
        s2_totals = Cat(chunk_registers(totals, "s2_totals"))
        m.d.sync += s2_resident.eq(s1_resident & (s1_shift != 0))
        with m.If(s1_valid):
            m.d.sync += [s2_shift.eq(s1_shift), s2_totals.eq(totals)]
        for lane, element in enumerate(self.elements):
            total = s2_totals.word_select(lane, ELEMENT_BITS).as_signed()
            m.d.comb += element.eq(total)
            with m.If(s2_resident):
                m.d.comb += element.eq(_round_shift(total, s2_shift))
        return m

    def _total(self, lane: int, kept: Value, start: Value) -> Value:
        stays = Mux(start, 0, kept.word_select(lane, ELEMENT_BITS))
        return (stays + self.rows[lane].as_unsigned())[:ELEMENT_BITS]


def _round_shift(value: Value, shift: Value) -> Value:
    """``value / 2^shift`` to nearest, ties to even.  With one bit more, the half is a bit too."""
    doubled = (Cat(0, value).as_signed() >> shift)[: ELEMENT_BITS + 1]
    low = ((1 << shift) - 1)[:ELEMENT_BITS] >> 1  # Bits below the half.
    rest = (value.as_unsigned() & low).any()
    return (doubled[1:].as_signed() + (doubled[0] & (rest | doubled[1])))[:ELEMENT_BITS].as_signed()
