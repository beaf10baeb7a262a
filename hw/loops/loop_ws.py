"""LOOP_WS: the sequencer of a product of tiles."""

from amaranth import Cat, Const, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.frontend.layouts import COMMAND, operands
from celosia.hw.lib.sleep import AWAKE, sleeper
from celosia.hw.loops.tiles import Pointer, State, command_of, tile_word
from celosia.isa.address import ACCUMULATE_BIT, ACCUMULATOR_BIT, FULL_BIT, GARBAGE
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Funct
from celosia.isa.encoding.loops import LOOP_WS, LOOP_WS_CONFIGS

__all__ = ["LoopWs"]

LOCAL_BITS = 32

_FOLLOWS = {"B": "PRELOAD", "PRELOAD": "COMPUTE", "ADD_A": "ADD_B", "RECORD": "ROW"}
"""The command behind another, where it is always the same."""


class LoopWs(wiring.Component):
    """Issues the commands of LOOP_WS in its place, as `celosia.isa.loop_ws` says.

    The commands that configure it are taken, one in two cycles.  The first command goes out
    `LATENCY` cycles after LOOP_WS came in; from then on one per cycle.  Nothing comes in before the
    last one is out.  Other commands pass.  Ready does not depend on the command.

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

    LATENCY = 4

    i: stream.Interface
    o: stream.Interface
    fenced: Signal
    busy: Signal
    gained: Signal
    lost: Signal

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "i": In(stream.Signature(COMMAND)),
            "o": Out(stream.Signature(COMMAND)),
            "fenced": In(1),
            "busy": Out(1),
            "gained": Out(1),
            "lost": Out(1),
        })

    def elaborate(self, platform) -> Module:
        m, unit = Module(), Module()
        rests, offers, mine = Signal(), Signal(), Signal()
        made = Signal(COMMAND)
        functs = [int(known.funct) for known in (*LOOP_WS_CONFIGS, LOOP_WS)]
        m.d.comb += mine.eq(Cat(self.i.p.funct == funct for funct in functs).any())
        with m.If(rests):
            m.d.comb += [
                self.i.ready.eq(self.o.ready),
                self.o.valid.eq(self.i.valid & ~mine),
                self.o.p.eq(self.i.p),
            ]
        with m.Else():
            m.d.comb += [
                self.o.valid.eq(offers),
                self.o.p.eq(made),
                self.busy.eq(1),
                self.gained.eq(offers & self.o.ready),
            ]
        entered, awake = Signal(), Signal(name=AWAKE)
        m.d.comb += [
            entered.eq(rests & self.i.valid & mine & self.o.ready),
            awake.eq(~rests | entered | ResetSignal()),
        ]
        m.submodules.unit = sleeper(unit, awake)
        self._build(unit, entered, rests, offers, made)
        return m

    def _build(self, m: Module, entered: Value, rests: Value, offers: Signal, made) -> None:
        """What sleeps."""
        s = State(self.config)
        with m.FSM():
            with m.State("REST"):
                m.d.comb += rests.eq(1)
                with m.If(entered):
                    self._enter(m, s)
            with m.State("LOSE"), m.If(~self.fenced):
                m.d.comb += self.lost.eq(1)
                m.next = "REST"
            with m.State("SIZES"):
                m.d.sync += [s.row_tiles.eq(s.k * s.j), s.c_tiles.eq(s.i * s.j)]
                m.next = "PLACES"
            with m.State("PLACES"):
                s.place(m)
                m.next = "SET"
            with m.State("SET"):
                s.set(m)
                self._choose(m, s)
            for name, make in self._makers(s).items():
                with m.State(name):
                    m.d.comb += [offers.eq(1), made.eq(make(m))]
                    with m.If(self.o.ready):
                        self._after(m, s, name)

    def _enter(self, m: Module, s: State) -> None:
        with m.Switch(self.i.p.funct):
            for known in LOOP_WS_CONFIGS:
                with m.Case(int(known.funct)):
                    fields = vars(operands(known, self.i.p))
                    m.d.sync += [s.values[name].eq(value) for name, value in fields.items()]
                    m.next = "LOSE"
            with m.Default():
                fields = vars(operands(LOOP_WS, self.i.p))
                m.d.sync += [s.run[name].eq(value) for name, value in fields.items()]
                m.next = "SIZES"

    def _choose(self, m: Module, s: State) -> None:
        """What comes first."""
        with m.If((s.i == 0) | (s.j == 0)):
            m.next = "LOSE"
        with m.Elif(s.run["residual"]):
            m.next = "ADD_A"
        with m.Elif(s.values["d"] != 0):
            m.next = "D"
        with m.Else():
            self._multiply(m, s)

    def _multiply(self, m: Module, s: State) -> None:
        """After D, or without it: the products, if there are some."""
        with m.If(s.k == 0):
            self._drain(m, s)
        with m.Else():
            self._tile(m, s, first_j=1, first_i=1)

    def _tile(self, m: Module, s: State, *, first_j, first_i) -> None:
        """The first command of a product."""
        m.next = "PRELOAD"
        with m.If(s.loads_b & first_i):
            m.next = "B"
        with m.If(s.loads_a & first_j):
            m.next = "A"

    def _drain(self, m: Module, s: State) -> None:
        """After the products."""
        m.next = "LOSE"
        with m.If(s.stores & s.normalizes):
            s.lines.begin(m, s)
            m.next = "RECORD"

    def _after(self, m: Module, s: State, name: str) -> None:
        """The command of state `name` is out."""
        if name in _FOLLOWS:
            m.next = _FOLLOWS[name]
        elif name in ("D", "ADD_C"):
            self._next_tile(m, s, name)
        elif name == "A":
            m.next = "PRELOAD"
            with m.If(s.loads_b & (s.row == 0)):
                m.next = "B"
        elif name == "ROW":
            self._next_block(m, s)
        else:
            self._after_product(m, s, name)

    def _after_product(self, m: Module, s: State, name: str) -> None:
        """A tile of C has changed, or has been stored."""
        stores = {
            "COMPUTE": (s.stores & ~s.normalizes & s.last_k, "C"),
            "ADD_B": (s.stores, "ADD_C"),
            "C": (Const(0), "C"),
        }
        store, state = stores[name]
        with m.If(store):
            m.next = state
        with m.Else():
            if name == "ADD_B":
                self._next_tile(m, s, "ADD_C")
            else:
                self._next_product(m, s)

    def _next_tile(self, m: Module, s: State, name: str) -> None:
        """Of D, or of a sum."""
        first = {"D": "D", "ADD_C": "ADD_A"}[name]
        pointers = [s.c, s.c_local, *([s.a, s.b] if name == "ADD_C" else [])]
        m.next = first
        with m.If(~s.last_i):
            m.d.sync += s.row.eq(s.row + 1)
            for pointer in pointers:
                pointer.inner(m)
        with m.Elif(~s.last_j):
            m.d.sync += [s.row.eq(0), s.col.eq(s.col + 1)]
            for pointer in pointers:
                pointer.outer(m)
        with m.Else():
            m.d.sync += [s.row.eq(0), s.col.eq(0)]
            if name == "D":
                s.set_c(m)
                self._multiply(m, s)
            else:
                m.next = "LOSE"

    def _next_product(self, m: Module, s: State) -> None:
        with m.If(~s.last_i):
            m.d.sync += s.row.eq(s.row + 1)
            for pointer in (s.a, s.a_local, s.c, s.c_local):
                pointer.inner(m)
            self._tile(m, s, first_j=s.col == 0, first_i=0)
        with m.Elif(~s.last_j):
            m.d.sync += [s.row.eq(0), s.col.eq(s.col + 1)]
            s.a_local.again(m)
            for pointer in (s.b, s.b_local):
                pointer.inner(m)
            for pointer in (s.c, s.c_local):
                pointer.outer(m)
            self._tile(m, s, first_j=0, first_i=1)
        with m.Elif(~s.last_k):
            m.d.sync += [s.row.eq(0), s.col.eq(0), s.depth.eq(s.depth + 1)]
            for pointer in (s.a, s.a_local, s.b, s.b_local):
                pointer.outer(m)
            s.set_c(m)
            self._tile(m, s, first_j=1, first_i=1)
        with m.Else():
            s.set_c(m)
            self._drain(m, s)

    def _next_block(self, m: Module, s: State) -> None:
        """Of a row of C that is normalized; then the next row."""
        m.d.sync += s.col.eq(s.col + 1)
        m.next = "ROW"
        with m.If(s.last_j):
            m.d.sync += s.col.eq(0)
            m.next = "RECORD"
            s.lines.advance(m, s)
            with m.If(s.lines.over):
                m.next = "LOSE"

    def _makers(self, s: State) -> dict:
        """The command of each state."""
        row, col = s.extents["i"], s.extents["j"]

        def load(funct: Funct, pointer: Pointer, local: Pointer, turned, plain, name: str):
            turns = s.run[f"{name}_transpose"]
            rows, cols = (
                Mux(turns, s.extents[one], s.extents[other])
                for one, other in zip(turned, plain, strict=True)
            )
            return command_of(funct, pointer.now, tile_word(local.now, cols, rows))

        def moves_c(funct: Funct, pointer: Pointer, flags: Value | int = 0):
            return command_of(funct, pointer.now, tile_word(_accumulator(s) | flags, col, row))

        full = Mux(s.run["full_c"], 1 << FULL_BIT, 0)
        adds = Mux((s.depth != 0) | s.run["accumulate"], 1 << ACCUMULATE_BIT, 0)
        return {
            "D": lambda m: moves_c(Funct.MVIN3, s.c),
            "A": lambda m: load(Funct.MVIN, s.a, s.a_local, "ki", "ik", "a"),
            "B": lambda m: load(Funct.MVIN2, s.b, s.b_local, "jk", "kj", "b"),
            "PRELOAD": lambda m: command_of(
                Funct.PRELOAD,
                tile_word(Mux(s.row == 0, s.b_local.now, GARBAGE), col, s.extents["k"]),
                tile_word(_accumulator(s) | adds, col, row),
            ),
            "COMPUTE": lambda m: command_of(
                Mux(s.row == 0, Funct.COMPUTE_PRELOADED, Funct.COMPUTE_ACCUMULATED),
                tile_word(s.a_local.now, s.extents["k"], row),
                tile_word(Const(GARBAGE, LOCAL_BITS), col, row),
            ),
            "C": lambda m: moves_c(Funct.MVOUT, s.c, full),
            "ADD_A": lambda m: moves_c(Funct.MVIN, s.a),
            "ADD_B": lambda m: moves_c(Funct.MVIN2, s.b, 1 << ACCUMULATE_BIT),
            "ADD_C": lambda m: moves_c(Funct.MVOUT, s.c),
            "RECORD": lambda m: command_of(Funct.CONFIG, s.lines.record_word(), Const(0, 64)),
            "ROW": lambda m: command_of(
                Funct.MVOUT, s.lines.address(s), tile_word(s.lines.local(s), col, Const(1, 16))
            ),
        }


def _accumulator(s: State) -> Value:
    return s.c_local.now | 1 << ACCUMULATOR_BIT
