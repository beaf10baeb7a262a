"""LOOP_WS: the sequencer of a product of tiles."""

from typing import Final

from amaranth import Cat, Module, Mux, Signal, Value

from celosia.hw.gemmini.loops.lines import Lines
from celosia.hw.gemmini.loops.matrices import State
from celosia.hw.gemmini.loops.moves import Moves
from celosia.hw.gemmini.loops.tiles import Products
from celosia.hw.lib.layouts import COMMAND, operands
from celosia.hw.loops.stage import LoopUnit
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS
from celosia.isa.operations.loop_ws import spacing

__all__ = ["LoopWs"]

_STORE: Final = 0b1000
"""The bit of `_Sequence.jobs` that stands for storing C."""


class LoopWs(LoopUnit):
    """Issues the commands of LOOP_WS in its place, as `celosia.isa.operations.loop_ws` says.

    The commands that configure it are taken, one in four cycles at least.  The first load goes out
    `LATENCY` cycles after LOOP_WS came in, if no other loop is held; then one command per cycle,
    but for a cycle before each matrix, 4 before products and 2 before and after stores.  Products
    are held back until the next command is there.  If none is on offer for `PATIENCE` cycles, they
    go out, and the loads of a loop that comes later go out behind them: the contract, which knows
    no time, then has another order of the same commands.  Other commands pass, after all that is
    held; also a LOOP_WS that stores to the scratchpad.  Ready does not depend on the command.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies every size.

    Members
    -------
    i : ``In(stream.Signature(COMMAND))``
        Commands.
    o : ``Out(stream.Signature(COMMAND))``
        What they stand for.
    fenced : ``In(1)``
        A FENCE that went out is not over: no command is lost now.
    busy : ``Out(1)``
        There are commands yet to be made.
    gained : ``Out(1)``
        A command that was made goes out.
    lost : ``Out(1)``
        A command that was taken is over.
    """

    LATENCY = 5
    PATIENCE = 32

    def build(self, m: Module, outer: Module) -> Value:
        rests, takes, offers, mine = Signal(), Signal(), Signal(), Signal()
        made = Signal(COMMAND)
        outer.d.comb += mine.eq(_own(self.i.p))
        with outer.If(rests):
            outer.d.comb += self.passing(mine)
        with outer.Else():
            outer.d.comb += [
                self.i.ready.eq(takes),
                self.o.valid.eq(offers),
                self.o.p.eq(made),
                self.busy.eq(1),
                self.gained.eq(offers & self.o.ready),
            ]
        entered = Signal()
        outer.d.comb += entered.eq(self.i.valid & mine & self.i.ready)
        s = _Sequence(self.config)
        with m.FSM():
            self._wait(m, s, entered, mine, rests, takes)
            self._prepare(m, s)
            self._make(m, s, offers, made)
            self._turn(m, s)
        return ~rests | entered

    def _wait(self, m: Module, s: "_Sequence", entered, mine, rests, takes) -> None:
        """Add the states that wait for a command, and take it."""
        with m.State("REST"):
            m.d.comb += rests.eq(1)
            with m.If(entered):
                self._enter(m, s)
        with m.State("HELD"):
            m.d.sync += s.patience.eq(s.patience - 1)
            with m.If(self.i.valid & mine):
                m.next = "TAKE"
            with m.Elif(self.i.valid | (s.patience == 0)):
                s.begin(m, 0)
        with m.State("TAKE"):
            m.d.comb += takes.eq(1)
            with m.If(entered):
                self._enter(m, s)
        with m.State("LOSE"), m.If(~self.fenced):
            m.d.comb += self.lost.eq(1)
            m.next = "REST"
            with m.If(s.holds):
                self._hold(m, s)

    def _enter(self, m: Module, s: "_Sequence") -> None:
        with m.Switch(self.i.p.funct):
            for known in LOOP_WS_CONFIGS:
                with m.Case(int(known.funct)):
                    fields = vars(operands(known, self.i.p))
                    m.d.sync += [s.loops.values[name].eq(value) for name, value in fields.items()]
                    m.next = "LOSE"
            with m.Default():
                fields = vars(operands(LOOP_WS, self.i.p))
                m.d.sync += [s.loops.run[name].eq(value) for name, value in fields.items()]
                m.next = "SIZES"

    def _hold(self, m: Module, s: "_Sequence") -> None:
        """Wait for what comes behind the loop."""
        m.d.sync += s.patience.eq(self.PATIENCE - 1)
        m.next = "HELD"

    def _prepare(self, m: Module, s: "_Sequence") -> None:
        """Add the states that size and place a loop which has come in."""
        with m.State("SIZES"):
            s.loops.size(m)
            m.next = "PLACES"
        with m.State("PLACES"):
            s.loops.place(m)
            m.next = "BEGIN"
        with m.State("BEGIN"):
            m.d.sync += [s.follows.eq(1), s.apart.eq(s.holds & ~s.loops.beside())]
            s.begin(m, Mux(s.holds & ~s.loops.beside(), 0, s.loops.loads()))

    def _make(self, m: Module, s: "_Sequence", offers: Signal, made) -> None:
        """Add the states that offer commands."""
        with m.State("MOVE"):
            m.d.comb += [offers.eq(1), made.eq(s.moves.command())]
            with m.If(self.o.ready):
                s.moves.advance(m)
                m.next = "JOB"
                with m.If(~s.moves.over):
                    s.go_on(m)
        with m.State("PRELOAD"):
            m.d.comb += [offers.eq(1), made.eq(s.products.preload())]
            with m.If(self.o.ready):
                m.next = "COMPUTE"
        with m.State("COMPUTE"):
            m.d.comb += [offers.eq(1), made.eq(s.products.compute())]
            with m.If(self.o.ready):
                s.multiply(m)
        with m.State("RECORD"):
            m.d.comb += [offers.eq(1), made.eq(s.lines.choose())]
            with m.If(self.o.ready):
                s.moves.begin(m, s.lines.row())
                m.next = "ROW"
        with m.State("ROW"):
            norm = s.lines.norm(s.moves.ends_row)
            m.d.comb += [offers.eq(1), made.eq(s.moves.command(norm))]
            with m.If(self.o.ready):
                s.moves.advance(m)
                with m.If(s.moves.over):
                    s.lines.advance(m)
                    m.next = "RECORD"
                    with m.If(s.lines.over):
                        m.next = "END"

    def _turn(self, m: Module, s: "_Sequence") -> None:
        """Add the states that choose what comes next."""
        with m.State("JOB"):
            s.choose(m)
        with m.State("LOADED"):
            # All loads and products are out.
            with m.If(~s.holds):
                s.keep(m)
                self._hold(m, s)
            with m.Elif(s.loops.held.stores):
                s.store(m)
            with m.Else():
                m.next = "END"
        with m.State("END"), m.If(~self.fenced):
            m.d.comb += self.lost.eq(1)
            m.d.sync += [s.stores.eq(0), s.holds.eq(0)]
            m.next = "REST"
            with m.If(s.apart):
                m.d.sync += [s.apart.eq(0), s.jobs.eq(s.loops.loads())]
                m.next = "JOB"
            with m.Elif(s.follows):
                s.keep(m)
                self._hold(m, s)


class _Sequence:
    """How far loops have come: loads of the one that came in, products and stores of the other."""

    def __init__(self, config: AcceleratorConfig):
        self.loops = State(config)
        self.products = Products(config, self.loops.held)
        self.lines = Lines(config, self.loops.held)
        self.moves = Moves(config)
        self.patience = Signal(range(LoopWs.PATIENCE), reset_less=True)
        self.holds = Signal()  # A loop whose loads are over.
        self.follows = Signal()  # Another one has come in,
        self.apart = Signal()  # whose loads come behind all of the one that is held.
        self.multiplies, self.stores = Signal(), Signal()  # Products, stores are going out.
        self.loads = Signal()  # Moves are going out.
        self.jobs = Signal(4)  # Matrices of `State.matrices` that are yet to be moved.
        self.since = Signal(range(spacing(config)), reset_less=True)  # Products since a move.
        self._spacing = spacing(config)

    def begin(self, m: Module, jobs: Value | int) -> None:
        """Begin the moves `jobs`, beside the products of the loop that is held, if there is one."""
        self.products.begin(m)
        m.d.sync += [
            self.multiplies.eq(self.holds & self.loops.held.multiplies),
            self.since.eq(0),
            self.jobs.eq(jobs),
        ]
        m.next = "JOB"

    def go_on(self, m: Module) -> None:
        """Go on with the next product, or with the next move if no product is left."""
        m.next = "MOVE"
        with m.If(self.multiplies):
            m.next = "PRELOAD"

    def choose(self, m: Module) -> None:
        """Begin to move the next matrix; without one, go on with what comes after all moves."""
        self.go_on(m)
        m.d.sync += self.loads.eq(1)
        for number, matrix in enumerate(self.loops.matrices()):
            with m.If(self.jobs[number]) if not number else m.Elif(self.jobs[number]):
                self.moves.begin(m, matrix)
                m.d.sync += self.jobs[number].eq(0)
        with m.Else():
            m.d.sync += self.loads.eq(0)
            with m.If(~self.multiplies):
                m.next = "LOADED"
            with m.If(self.stores):
                m.next = "END"

    def multiply(self, m: Module) -> None:
        """Advance to the next product, and choose what follows the one that has gone out."""
        turn = self.since == 0
        m.d.sync += self.since.eq(Mux(self.since == self._spacing - 1, 0, self.since + 1))
        self.products.advance(m)
        m.next = "PRELOAD"
        with m.If(self.products.last):
            m.d.sync += self.multiplies.eq(0)
            m.next = "LOADED"
        with m.If(self.loads & (turn | self.products.last)):
            m.next = "MOVE"

    def store(self, m: Module) -> None:
        """Begin to store C, after all products of the loop that is held."""
        m.d.sync += [self.stores.eq(1), self.jobs.eq(_STORE)]
        m.next = "JOB"
        with m.If(self.loops.held.normalizes):
            self.lines.begin(m)
            m.next = "RECORD"
            with m.If(self.lines.none):
                m.next = "END"

    def keep(self, m: Module) -> None:
        """The loop that came in is the one that is held."""
        self.loops.hold(m)
        m.d.sync += [self.holds.eq(1), self.follows.eq(0)]


def _own(command) -> Value:
    """Whether it is one that this stage takes."""
    functs = [int(known.funct) for known in LOOP_WS_CONFIGS]
    words = {"rs1": command.rs1, "rs2": command.rs2}
    rules = [
        words[field.register][field.low : field.low + field.bits] == field.fixed
        for field in LOOP_WS.fields
        if field.fixed is not None
    ]
    runs = (command.funct == LOOP_WS.funct) & Cat(*rules).all()
    return Cat(*(command.funct == funct for funct in functs), runs).any()
