"""PRODUCTS: the commands of a product of many tiles."""

from types import SimpleNamespace
from typing import Any, Final

from amaranth import Cat, Const, Module, Mux, Signal, Value

from celosia.hw.lib.fields import field_signals
from celosia.hw.lib.layouts import COMMAND, assembled, operands
from celosia.hw.loops.stage import LoopUnit
from celosia.isa.address import ACCUMULATE_BIT, ACCUMULATOR_BIT, GARBAGE, LOCAL_ADDRESS_BITS
from celosia.isa.encoding import (
    COMPUTE_PRELOADED,
    CONFIG_PRODUCTS,
    PRELOAD,
    PRODUCTS,
    Funct,
    Instruction,
)

__all__ = ["Products"]

_COUNTS: Final = ("k", "pieces", "columns")


class Products(LoopUnit):
    """Expands PRODUCTS as `celosia.isa.operations.loops` says, and keeps what CONFIG_PRODUCTS sets.

    The first PRELOAD is on offer `LATENCY` cycles after PRODUCTS was accepted, and from then on a
    command per cycle, while they are taken; the next command is accepted in the cycle behind the
    last one of them, and in the second cycle behind a CONFIG_PRODUCTS.  Other commands pass, also a
    PRODUCTS that is not well formed.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``.

    Members
    -------
    i : ``In(stream.Signature(COMMAND))``
        Commands.
    o : ``Out(stream.Signature(COMMAND))``
        Commands, without CONFIG_PRODUCTS, and without PRODUCTS that are well formed.
    fenced : ``In(1)``
        A FENCE that went out is not over: a CONFIG_PRODUCTS waits.
    busy : ``Out(1)``
        A PRODUCTS is held, or a CONFIG_PRODUCTS waits.
    gained : ``Out(1)``
        A command of a PRODUCTS goes out, but not the last one.
    lost : ``Out(1)``
        A CONFIG_PRODUCTS has come in.
    """

    LATENCY = 1

    def build(self, m: Module, outer: Module) -> Value:
        active, waits = Signal(), Signal()
        begins, configures = Signal(), Signal()  # A command of this stage comes in.
        made = field_signals(COMMAND, "made")
        own = Signal()
        with outer.If(self.i.p.funct == Funct.PRODUCTS):
            outer.d.comb += own.eq(_well_formed(operands(PRODUCTS, self.i.p), self.config.dim))
        with outer.Elif(self.i.p.funct == Funct.CONFIG_PRODUCTS):
            outer.d.comb += own.eq(1)
        with outer.If(active | waits):
            outer.d.comb += [
                self.busy.eq(1),
                self.o.valid.eq(active),
                *(self.o.p[name].eq(value) for name, value in vars(made).items()),
            ]
        with outer.Else():
            taken = self.i.valid & own & self.o.ready
            outer.d.comb += [
                begins.eq(taken & (self.i.p.funct == Funct.PRODUCTS)),
                configures.eq(taken & (self.i.p.funct == Funct.CONFIG_PRODUCTS)),
                *self.passing(own),
            ]
        self._configure(m, waits, configures)
        self._multiply(m, active, begins, made)
        return self.busy | begins | configures

    def _configure(self, m: Module, waits: Signal, configures: Signal) -> None:
        """Keep where tiles stand."""
        self._strides = _fields(CONFIG_PRODUCTS)
        with m.If(configures):
            _keep(m, self._strides, operands(CONFIG_PRODUCTS, self.i.p))
            m.d.sync += waits.eq(1)
        with m.Elif(waits & ~self.fenced):
            m.d.sync += waits.eq(0)
        m.d.comb += self.lost.eq(waits & ~self.fenced)

    def _multiply(self, m: Module, active: Signal, begins: Signal, made) -> None:
        """Make the commands of a PRODUCTS."""
        s = _State()
        m.d.comb += self.gained.eq(active & self.o.ready & ~(s.computes & s.last))
        with m.If(active):
            self._make(m, s, made)
            with m.If(self.o.ready):
                m.d.sync += s.computes.eq(~s.computes)
                with m.If(s.computes):
                    s.advance(m, self._strides)
                    m.d.sync += active.eq(~s.last)
        with m.Elif(begins):
            new = operands(PRODUCTS, self.i.p)
            _keep(m, s.v, new)
            s.begin(m, new)
            m.d.sync += active.eq(1)

    def _make(self, m: Module, s: "_State", made) -> None:
        """The command on offer."""
        depth, cols = Signal.like(s.v.last_depth), Signal.like(s.v.last_cols)
        m.d.comb += [
            depth.eq(Mux(s.last_of_column, s.v.last_depth, self.config.dim)),
            cols.eq(Mux(s.columns == 1, s.v.last_cols, self.config.dim)),
        ]
        with m.If(s.computes):
            words = {"a": s.a, "a_cols": depth, "a_rows": s.v.rows, "d": GARBAGE}
            m.d.comb += made.funct.eq(Funct.COMPUTE_PRELOADED)
            rs1, rs2 = assembled(COMPUTE_PRELOADED, words)
            m.d.comb += [made.rs1.eq(rs1), made.rs2.eq(rs2)]
        with m.Else():
            c = Cat(s.c, Const(0, LOCAL_ADDRESS_BITS - len(s.c)))
            c = c | Const(1 << ACCUMULATOR_BIT) | (s.accumulates << ACCUMULATE_BIT)
            words = {"b": s.w, "b_cols": cols, "b_rows": depth}
            words |= {"c": c, "c_cols": cols, "c_rows": s.v.rows}
            m.d.comb += made.funct.eq(Funct.PRELOAD)
            rs1, rs2 = assembled(PRELOAD, words)
            m.d.comb += [made.rs1.eq(rs1), made.rs2.eq(rs2)]


class _State:
    """A PRODUCTS, and how far it has come.

    `k`, `pieces` and `columns` count what is left, with the tile on offer; `a` and `w` are the
    rows of its operands, and those of the first tile of its piece and of its column.
    """

    def __init__(self) -> None:
        self.v = _fields(PRODUCTS, reset_less=True)
        self.computes = Signal()  # The COMPUTE is on offer, not the PRELOAD.
        self.accumulates = Signal(reset_less=True)
        v = self.v
        self.k, self.pieces, self.columns = (
            Signal.like(getattr(v, name), name=f"{name}_left") for name in _COUNTS
        )
        self.a, self.a_piece = (Signal.like(v.a, name=name) for name in ("a_tile", "a_first"))
        self.w, self.w_piece, self.w_column = (
            Signal.like(v.w, name=name) for name in ("w_tile", "w_first", "w_of_column")
        )
        self.c = Signal.like(v.c, name="c_tile")
        self.last_of_column = (self.k == 1) & (self.pieces == 1)
        self.last = self.last_of_column & (self.columns == 1)

    def begin(self, m: Module, new: Any) -> None:
        """The first tile."""
        m.d.sync += [
            *(getattr(self, name).eq(getattr(new, name)) for name in _COUNTS),
            *(row.eq(new.a) for row in (self.a, self.a_piece)),
            *(row.eq(new.w) for row in (self.w, self.w_piece, self.w_column)),
            self.c.eq(new.c),
            self.accumulates.eq(~new.overwrite),
            self.computes.eq(0),
        ]

    def advance(self, m: Module, strides: Any) -> None:
        """The next tile."""
        m.d.sync += self.accumulates.eq(1)
        with m.If(self.k != 1):
            m.d.sync += [
                self.k.eq(self.k - 1),
                self.a.eq(self.a + strides.a_k),
                self.w.eq(self.w + strides.w_k),
            ]
        with m.Elif(self.pieces != 1):
            a, w = self.a_piece + strides.a_piece, self.w_piece + strides.w_piece
            m.d.sync += [
                self.pieces.eq(self.pieces - 1),
                self.k.eq(self.v.k),
                *(row.eq(a) for row in (self.a, self.a_piece)),
                *(row.eq(w) for row in (self.w, self.w_piece)),
            ]
        with m.Else():
            w = self.w_column + strides.w_column
            m.d.sync += [
                self.columns.eq(self.columns - 1),
                self.pieces.eq(self.v.pieces),
                self.k.eq(self.v.k),
                *(row.eq(self.v.a) for row in (self.a, self.a_piece)),
                *(row.eq(w) for row in (self.w, self.w_piece, self.w_column)),
                self.c.eq(self.c + strides.c_column),
                self.accumulates.eq(~self.v.overwrite),
            ]


def _fields(instruction: Instruction, *, reset_less: bool = False) -> Any:
    """A register for each operand."""
    return SimpleNamespace(**{
        field.name: Signal(field.bits, name=field.name, reset_less=reset_less)
        for field in instruction.operands
    })


def _keep(m: Module, registers: Any, new: Any) -> None:
    m.d.sync += [signal.eq(getattr(new, name)) for name, signal in vars(registers).items()]


def _well_formed(fields: Any, dim: int) -> Value:
    counts = (fields.rows, *(getattr(fields, name) for name in _COUNTS))
    sizes = (fields.last_depth, fields.last_cols)
    rules = [value != 0 for value in (*counts, *sizes)]
    return Cat(*rules, *(size <= dim for size in sizes)).all()
