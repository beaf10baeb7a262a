"""The registers of `celosia.isa.registers.map`."""

from types import SimpleNamespace
from typing import Annotated, Any

from amaranth import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.hdl import ShapeLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.host.axi_lite import AxiLitePort, AxiLiteSlave
from celosia.hw.lib.sleep import Sleeping
from celosia.hw.observe.counters import COUNTER_NUMBER
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.events import COUNTER_BITS, COUNTERS
from celosia.isa.registers.map import (
    REGISTER_BITS,
    REGISTERS,
    Access,
    Register,
    configuration_words,
)

__all__ = ["RegisterFile"]

BYTE_BITS = 8

STORED = [r for r in REGISTERS.values() if r.access in {Access.RW, Access.W1C}]
_COUNTED = {f"COUNTER_{counter.name.upper()}" for counter in COUNTERS}
COUNTED = [r for r in REGISTERS.values() if r.half[0] in _COUNTED]
SHOWN = [
    r for r in REGISTERS.values() if r.access is Access.RO and not r.constant and r not in COUNTED
]
RAISED = [r for r in REGISTERS.values() if r.access is Access.W1C]
ACTIONS = [r.name for r in REGISTERS.values() if r.access is Access.WO] + [
    field.name for r in REGISTERS.values() for field in r.fields if field.once
]


class RegisterFile(Sleeping):
    """Answers the host, by the rules that the table of registers declares.

    Names of members are those of the table in lower case; of a field with `once`, the field's.  The
    two halves of a 64-bit value are one member.  A value that is written counts from the next cycle
    on; an action is up while it is written.  `LATENCY` is that of `AxiLiteSlave`.

    What the table forbids is answered with SLVERR and has no effect: words without a register,
    writes to what is read only, and while ``busy`` writes without `while_busy`.  Bytes without a
    strobe keep their value; a write without any does nothing.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Told to the host.

    Members
    -------
    port : ``In(AxiLitePort())``
        The host.
    busy : ``In(1)``
        Take only writes with `while_busy`.
    values : ``Out(Signature({name: Out(shape)}))``
        What has been written.
    shown : ``In(Signature({name: Out(shape)}))``
        What else can be read, but counters.
    counter_read : ``Out(1)``
        A counter is read.
    counter_number : ``Out(COUNTER_NUMBER)``
        Which one, in the order of their registers.
    counter : ``In(COUNTER_BITS)``
        The one that was read last, from the next cycle on.
    raised : ``In(Signature({name: Out(shape)}))``
        Bits to set, where writing 1 clears; setting prevails.
    actions : ``Out(Signature({name: Out(1)}))``
        What acts once.
    """

    LATENCY = AxiLiteSlave.LATENCY

    port: Annotated[Any, In(AxiLitePort())]
    busy: Annotated[Signal, In(1)]
    values: Any
    shown: Any
    counter_read: Annotated[Signal, Out(1)]
    counter_number: Annotated[Signal, Out(COUNTER_NUMBER)]
    counter: Annotated[Signal, In(COUNTER_BITS)]
    raised: Any
    actions: Any

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "values": Out(wiring.Signature(_members(STORED))),
            "shown": In(wiring.Signature(_members(SHOWN))),
            "raised": In(wiring.Signature(_members(RAISED))),
            "actions": Out(wiring.Signature({name.lower(): Out(1) for name in ACTIONS})),
        })

    def build(self, m: Module, outer: Module) -> Value:
        m.submodules.slave = slave = AxiLiteSlave()
        connect(m, flipped(self.port), slave.port)
        self._stored = self._registers(m)
        for register in RAISED:
            raised, stored = _word(self.raised, register), _word(self._stored, register)
            with m.If(raised.any()):
                m.d.sync += stored.eq(stored | raised)
        self._write(m, slave.access)
        self._read(m, slave.access)

        port = self.port
        comes = (port.aw.valid, port.w.valid, port.ar.valid)
        free = (port.aw.ready, port.w.ready, port.ar.ready)  # Down while something is held.
        raised = [_word(self.raised, register).any() for register in RAISED]
        answers = (port.b.valid, port.r.valid)
        return Cat(comes, answers, raised).any() | ~Cat(free).all()

    def _registers(self, m: Module) -> SimpleNamespace:
        """What `values` shows."""
        initial: dict[str, int] = {}
        for register in STORED:
            name, low = register.half
            assert register.reset is not None
            initial[name.lower()] = initial.get(name.lower(), 0) | register.reset << low
        stored = SimpleNamespace()
        for name, word in initial.items():
            shown = Value.cast(getattr(self.values, name))
            setattr(stored, name, Signal(len(shown), init=word, name=name))
            m.d.comb += shown.eq(getattr(stored, name))
        return stored

    def _write(self, m: Module, access: Any) -> None:
        error = Signal()
        m.d.comb += access.write_error.eq(error)
        with m.If(access.write):
            m.d.sync += error.eq(1)
            with m.Switch(access.write_word):
                for register in REGISTERS.values():
                    if register.access is not Access.RO:
                        with m.Case(_number(register)), m.If(~self.busy | register.while_busy):
                            m.d.sync += error.eq(0)
                            self._take(m, register, access.write_data, access.write_strobe)

    def _take(self, m: Module, register: Register, word: Value, strobe: Value) -> None:
        """Write the bytes of `word` that have a strobe."""
        if register.access is Access.WO:
            action = getattr(self.actions, register.name.lower())
            m.d.comb += action.eq(strobe.any())
            return
        raised = _word(self.raised, register) if register in RAISED else None
        stored = _word(self._stored, register)
        kept = _kept_mask(register)
        for lane in range(REGISTER_BITS // BYTE_BITS):
            bits = slice(lane * BYTE_BITS, (lane + 1) * BYTE_BITS)
            mask = (kept >> bits.start) & 0xFF
            with m.If(strobe[lane]):
                if raised is not None:
                    left = stored[bits] & ~word[bits]
                    m.d.sync += stored[bits].eq((left | raised[bits]) & mask)
                elif mask:
                    m.d.sync += stored[bits].eq(word[bits] & mask)
                for field in register.fields:
                    if field.once and bits.start <= field.low < bits.stop:
                        m.d.comb += getattr(self.actions, field.name).eq(word[field.low])

    def _read(self, m: Module, access: Any) -> None:
        error, word = Signal(), Signal(REGISTER_BITS, reset_less=True)
        words = configuration_words(self.config)
        counting, high = Signal(), Signal(reset_less=True)  # A half of a counter was read.
        m.d.comb += [access.read_error.eq(error), access.read_data.eq(word)]
        with m.If(counting):
            halves = self.counter[:REGISTER_BITS], self.counter[REGISTER_BITS:]
            m.d.comb += access.read_data.eq(Mux(high, halves[1], halves[0]))
        with m.If(access.read):
            m.d.sync += [error.eq(1), word.eq(0), counting.eq(0)]
            with m.Switch(access.read_word):
                for register in REGISTERS.values():
                    if register in COUNTED:
                        continue
                    with m.Case(_number(register)):
                        m.d.sync += error.eq(0)
                        if register.constant:
                            m.d.sync += word.eq(words.get(register.name, register.reset or 0))
                        elif register.access is not Access.WO:
                            side = self._stored if register in STORED else self.shown
                            m.d.sync += word.eq(_word(side, register))
            # Counters are pairs, one after the other.
            place = access.read_word - _number(COUNTED[0])
            with m.If((place >= 0) & (place < len(COUNTED))):
                m.d.comb += [self.counter_read.eq(1), self.counter_number.eq(place >> 1)]
                m.d.sync += [error.eq(0), counting.eq(1), high.eq(place[0])]


def _word(side: Any, register: Register) -> Value:
    """The word of `register` among the values of `side`."""
    name, low = register.half
    return Value.cast(getattr(side, name.lower()))[low : low + REGISTER_BITS]


def _members(registers: list[Register]) -> dict[str, wiring.Member]:
    """A member for each register or pair of registers."""
    return {register.half[0].lower(): Out(_shape(register)) for register in registers}


def _shape(register: Register) -> ShapeLike:
    if register.half[0] != register.name:
        return unsigned(2 * REGISTER_BITS)
    if not register.fields:
        return unsigned(REGISTER_BITS)
    return data.FlexibleLayout(
        REGISTER_BITS,
        {field.name: data.Field(field.bits, field.low) for field in register.fields},
    )


def _kept_mask(register: Register) -> int:
    """The bits that are stored."""
    if not register.fields:
        return (1 << REGISTER_BITS) - 1
    return sum((field.limit - 1) << field.low for field in register.fields if not field.once)


def _number(register: Register) -> int:
    return register.offset // (REGISTER_BITS // BYTE_BITS)
