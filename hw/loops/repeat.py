"""REPEAT and STRIDE: takes the body of a loop in, and issues it again and again."""

from itertools import pairwise
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Out

from celosia.hw.lib.fields import field_signals
from celosia.hw.lib.layouts import COMMAND, operands
from celosia.hw.loops.advance import ADVANCE, advanced, lane_sums
from celosia.hw.loops.stage import LoopUnit
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import REPEAT, STRIDE, Funct
from celosia.isa.encoding.loops import LANES
from celosia.isa.latencies import LOOP_ISSUE_CYCLES
from celosia.isa.operations.loops import MAX_LOOP_DEPTH

__all__ = ["Repeater"]

COUNT_BITS = next(field.bits for field in REPEAT.fields if field.name == "count")


class Repeater(LoopUnit):
    """Expands REPEAT and STRIDE as `celosia.isa.operations.loops` says.

    The body comes in from the second cycle after REPEAT on, a command per cycle, and is kept; the
    first command goes out `LATENCY` cycles after the last one came in.  From then on a command
    takes `ISSUE` cycles, one more for each STRIDE behind it and for each loop that ends behind it,
    or begins again; REPEAT takes `ENTER`.  A command that stays on offer for longer delays those
    behind it by as much.

    A body of A, B and a STRIDE for B, twice, from the cycle behind that in which the STRIDE came
    in; in cycle 8 the loop begins again, and B is kept as B', advanced::

        cycle     1    2    3     4    5    6     7     8    9    10   11    12   13   14    15
        state     STEP LOOK ISSUE STEP LOOK ISSUE ISSUE STEP STEP LOOK ISSUE STEP LOOK ISSUE ISSUE
        goes out            A               B                          A               B'

    Other commands pass, also a REPEAT without a body that can be kept, and a STRIDE outside of
    loops.  One within that is not well formed goes out, and ends all loops.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``loop_entries``.

    Members
    -------
    i : ``In(stream.Signature(COMMAND))``
        Commands.
    o : ``Out(stream.Signature(COMMAND))``
        Commands, without REPEATs and STRIDEs that are well formed.
    fenced : ``In(1)``
        A FENCE that went out is not over: a body waits.
    busy : ``Out(1)``
        A body is held, or a part of one.
    gained : ``Out(1)``
        A command goes out that will go out again.
    lost : ``Out(1)``
        A REPEAT or a STRIDE has come in.
    missing : ``Out(range(config.loop_entries + 1))``
        Commands of the body that have not come in.
    """

    LATENCY = 3
    ISSUE = LOOP_ISSUE_CYCLES
    ENTER = 2

    missing: Signal

    def __init__(self, config: AcceleratorConfig):
        super().__init__(config, missing=Out(range(config.loop_entries + 1)))

    def build(self, m: Module, outer: Module) -> Value:
        begins, entered = Signal(), Signal()  # A REPEAT with a body is on offer, or comes in.
        rests, takes, offers = Signal(), Signal(), Signal()
        command = field_signals(COMMAND, "issued")
        with outer.If(self.i.p.funct == Funct.REPEAT):
            fields = operands(REPEAT, self.i.p)
            fits = fields.length <= self.config.loop_entries
            outer.d.comb += begins.eq(fits & _has_body(fields))
        with outer.If(rests):
            outer.d.comb += self.passing(begins)
        with outer.Else():
            outer.d.comb += [
                self.i.ready.eq(takes),
                self.o.valid.eq(offers),
                *(self.o.p[name].eq(getattr(command, name)) for name, _ in COMMAND),
                self.busy.eq(1),
            ]
        outer.d.comb += entered.eq(self.i.valid & begins & self.o.ready)
        self._repeat(m, entered, rests, takes, offers, command)
        return ~rests | entered

    def _repeat(self, m: Module, entered, rests: Signal, takes, offers: Signal, command) -> None:
        """Take a body and issue it again and again."""
        s = _State(m, self.config)
        with m.FSM():
            with m.State("REST"):
                m.d.comb += rests.eq(1)
                with m.If(entered):
                    fields = operands(REPEAT, self.i.p)
                    s.begin(m, fields)
                    m.d.sync += self.missing.eq(fields.length)
                    m.next = "WAIT"
            with m.State("WAIT"), m.If(~self.fenced):
                m.d.comb += self.lost.eq(1)
                m.next = "TAKE"
            with m.State("TAKE"):
                m.d.comb += takes.eq(1)
                self._take(m, s)
            with m.State("STEP"):
                self._step(m, s)
            with m.State("LOOK"):
                self._look(m, s, command)
            with m.State("ISSUE"):
                self._issue(m, s, offers, command)
        self._write(m, s, takes, command)

    def _take(self, m: Module, s: "_State") -> None:
        """The body comes in."""
        with m.If(self.i.valid):
            m.d.comb += self.lost.eq(self.i.p.funct.matches(Funct.REPEAT, Funct.STRIDE))
            m.d.sync += [self.missing.eq(self.missing - 1), s.place.eq(s.place + 1)]
            with m.If(self.missing == 1):
                m.d.sync += s.place.eq(0)
                m.next = "STEP"

    def _step(self, m: Module, s: "_State") -> None:
        """Find the next command."""
        m.d.comb += [s.stepping.eq(1), s.read_enable.eq(1)]
        m.d.sync += s.advances.eq(0)
        inner = s.loops[0]
        with m.If(s.place != s.limit):
            m.next = "LOOK"
        with m.Elif(inner.in_tail):
            m.d.sync += [inner.in_tail.eq(0), s.place.eq(inner.start)]
        with m.Elif(inner.remaining != 0):
            m.d.sync += inner.remaining.eq(inner.remaining - 1)
            with m.If(inner.exit == inner.end):
                m.d.sync += s.place.eq(inner.start)
            with m.Else():
                m.d.sync += inner.in_tail.eq(1)
                m.next = "LOOK"
        with m.Else():
            s.pop(m)
            with m.If(s.depth == 1):
                m.next = "REST"

    def _look(self, m: Module, s: "_State", command) -> None:
        """See what the next command is."""
        m.d.comb += s.read_enable.eq(1)
        m.d.sync += [getattr(command, name).eq(s.read[name]) for name, _ in COMMAND]
        m.d.sync += [
            s.issued_place.eq(s.place),
            s.place.eq(s.place + 1),
            s.issued.eq(0),
            s.strides_seen.eq(0),
            s.faulty.eq(s.read.funct.matches(Funct.REPEAT, Funct.STRIDE)),
        ]
        m.next = "ISSUE"
        with m.If(s.read.funct == Funct.REPEAT):
            fields = operands(REPEAT, s.read)
            # It is behind this place; what is left is known before the command is.
            within = fields.length < (s.limit - s.place).as_unsigned()
            with m.If(_has_body(fields) & within & (s.depth != MAX_LOOP_DEPTH)):
                s.push(m, s.place + 1, fields)
                m.next = "STEP"

    def _issue(self, m: Module, s: "_State", offers: Signal, command) -> None:
        """Offer the command, and meanwhile find the STRIDE that changes it."""
        repeats, stride = Signal(), Signal()
        m.d.comb += [
            offers.eq(~s.issued),
            repeats.eq(Value.cast(s.unfinished).any()),
            self.gained.eq(offers & self.o.ready & repeats),
            stride.eq(
                (s.read.funct == Funct.STRIDE)
                & (s.place != s.limit)
                & (s.strides_seen != s.depth)
                & ~s.faulty
            ),
            s.read_enable.eq(stride),
        ]
        with m.If(stride):
            m.d.sync += [s.strides_seen.eq(s.strides_seen + 1), s.place.eq(s.place + 1)]
            with m.If(repeats & (s.strides_seen == s.innermost)):
                m.d.sync += s.advances.eq(1)
                fields = operands(STRIDE, s.read)
                for n, step in enumerate(s.steps, 1):
                    addend = getattr(fields, f"addend{n}")
                    wraps = [getattr(fields, f"wrap{n}_{lane}") for lane in range(LANES)]
                    sums = lane_sums(getattr(command, f"rs{n}"), addend, wraps)
                    m.d.sync += step.as_value().eq(sums)
        with m.If(offers & self.o.ready):
            m.d.sync += s.issued.eq(1)
        with m.If((s.issued | self.o.ready) & ~stride):
            m.next = "STEP"
            with m.If(s.faulty):
                m.next = "REST"

    def _write(self, m: Module, s: "_State", takes: Value, command) -> None:
        """The body, as it comes in and as it advances."""
        new = self.i.p
        with m.If(takes):
            m.d.comb += [
                s.write.en.eq(self.i.valid),
                s.write.addr.eq(s.place),
                s.write.data.eq(new),
            ]
        with m.Elif(s.advances):
            words = [
                advanced(m, getattr(command, f"rs{n}"), step, f"rs{n}")
                for n, step in enumerate(s.steps, 1)
            ]
            m.d.comb += [
                s.write.en.eq(s.stepping),
                s.write.addr.eq(s.issued_place),
                s.write.data.funct.eq(command.funct),
                s.write.data.rs1.eq(words[0]),
                s.write.data.rs2.eq(words[1]),
            ]


def _has_body(fields: Any) -> Value:
    """A REPEAT with these fields has a body, and issues each command of it at least once."""
    return (fields.left_out < fields.length) & (fields.count > (fields.left_out != 0))


class _Loop:
    """Registers of a REPEAT that has begun."""

    def __init__(self, config: AcceleratorConfig, index: int):
        place = range(config.loop_entries + 1)
        self.start = Signal(place, name=f"start_{index}", reset_less=True)
        # Where the last iteration is over.
        self.exit = Signal(place, name=f"exit_{index}", reset_less=True)
        self.end = Signal(place, name=f"end_{index}", reset_less=True)
        # The part between exit and end runs, the tail, which the last iteration leaves out.
        self.in_tail = Signal(name=f"in_tail_{index}", reset_less=True)
        # Iterations that the tail is yet to run in; 0 if the loop has not begun.
        self.remaining = Signal(COUNT_BITS, name=f"remaining_{index}", reset_less=True)

    def follow(self, other: "_Loop") -> list[Any]:
        """Become what `other` is."""
        names = ("start", "exit", "end", "in_tail", "remaining")
        return [getattr(self, name).eq(getattr(other, name)) for name in names]


class _State:
    """The body, and how far it has come."""

    def __init__(self, m: Module, config: AcceleratorConfig):
        m.submodules.body = memory = Memory(shape=COMMAND, depth=config.loop_entries, init=[])
        self.write = memory.write_port()
        port = memory.read_port()
        self.loops = [_Loop(config, index) for index in range(MAX_LOOP_DEPTH)]  # 0: innermost.
        self.depth = Signal(range(MAX_LOOP_DEPTH + 1), reset_less=True)  # Of them have begun.
        self.place = Signal(range(config.loop_entries + 1), reset_less=True)
        self.issued_place = Signal(range(config.loop_entries), reset_less=True)
        self.issued = Signal(reset_less=True)  # The command has gone out.
        self.faulty = Signal(reset_less=True)  # It is the last one.
        # Behind it.
        self.strides_seen = Signal(range(MAX_LOOP_DEPTH + 1), reset_less=True)
        self.advances = Signal(reset_less=True)  # One of them changes the command:
        self.steps = [Signal(ADVANCE, name=f"step_{n}", reset_less=True) for n in (1, 2)]
        # In this cycle: the entry at `place` is read, or (with `stepping` low) the one behind it.
        self.stepping, self.read_enable = Signal(), Signal()
        self.read: Any = port.data
        # Loops with iterations left, and the innermost of them.
        self.unfinished = Cat(loop.remaining != 0 for loop in self.loops)
        self.innermost = Signal(range(MAX_LOOP_DEPTH))
        for index in reversed(range(MAX_LOOP_DEPTH)):
            with m.If(self.unfinished[index]):
                m.d.comb += self.innermost.eq(index)
        inner = self.loops[0]
        self.limit = Mux(inner.in_tail, inner.end, inner.exit)  # Of the part that runs.
        m.d.comb += [port.en.eq(self.read_enable), port.addr.eq(self.place + ~self.stepping)]

    def begin(self, m: Module, fields: Any) -> None:
        """The outermost loop begins."""
        self.push(m, 0, fields)
        m.d.sync += [outer.remaining.eq(0) for outer in self.loops[1:]]
        m.d.sync += [self.depth.eq(1), self.place.eq(0), self.advances.eq(0)]

    def push(self, m: Module, start: Value | int, fields: Any) -> None:
        """A loop begins."""
        for inner, outer in pairwise(self.loops):
            m.d.sync += outer.follow(inner)
        first, end = self.loops[0], start + fields.length
        m.d.sync += [
            first.start.eq(start),
            first.exit.eq(end - fields.left_out),
            first.end.eq(end),
            first.in_tail.eq(0),
            first.remaining.eq(fields.count - 1),
            self.depth.eq(self.depth + 1),
        ]

    def pop(self, m: Module) -> None:
        """The innermost loop is over."""
        m.d.sync += self.place.eq(self.loops[0].end)
        for inner, outer in pairwise(self.loops):
            m.d.sync += inner.follow(outer)
        m.d.sync += [self.loops[-1].remaining.eq(0), self.depth.eq(self.depth - 1)]
