"""Rows of C that LOOP_WS normalizes: as many at a time as there are records, in passes."""

from types import SimpleNamespace

from amaranth import Const, Module, Mux, Signal, Value

from celosia.hw.gemmini.loops.moves import Matrix
from celosia.hw.gemmini.loops.tiles import ADDRESS_BITS, LOCAL_BITS, command_of
from celosia.isa.address import NORM_BITS, NORM_LOW
from celosia.isa.bert import STATISTICS, Activation
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_BERT, Funct
from celosia.isa.operations.loop_ws import PASSES

__all__ = ["Lines"]

_PASSES = len(PASSES[Activation.SOFTMAX])


class Lines:
    """The rows of `loop`, and the one that is next; see `State.held`."""

    def __init__(self, config: AcceleratorConfig, loop: SimpleNamespace):
        self.config, self.loop = config, loop
        self.record = Signal(range(STATISTICS), reset_less=True)
        self.pass_ = Signal(range(_PASSES), reset_less=True)
        self._first = Signal(LOCAL_BITS, name="first_line", reset_less=True)  # Of the group.
        self._dram, self._group_dram = (
            Signal(ADDRESS_BITS, name=name, reset_less=True) for name in ("line", "line_group")
        )
        self._local, self._group_local = (
            Signal(LOCAL_BITS, name=name, reset_less=True) for name in ("rows", "rows_group")
        )
        lines = loop.i * config.dim - loop.pad_i
        self._count = (lines | Const(0, LOCAL_BITS))[:LOCAL_BITS]
        self.none = self._count == 0
        number = self._first + self.record
        self._last_line = number + 1 == self._count
        self.over = self._last_line & (self.pass_ == _PASSES - 1)
        """It is the last pass over the last row."""

    def begin(self, m: Module) -> None:
        """Begin with the first row of C, the first pass and the first record."""
        m.d.sync += [self.record.eq(0), self.pass_.eq(0), self._first.eq(0)]
        self._begin_group(m, self.loop.c, self.loop.c_first)

    def _begin_group(self, m: Module, dram: Value, local: Value) -> None:
        m.d.sync += [x.eq(dram) for x in (self._dram, self._group_dram)]
        m.d.sync += [x.eq(local) for x in (self._local, self._group_local)]

    def advance(self, m: Module) -> None:
        """Go to the next row, pass, or group of rows."""
        dim, number = self.config.dim, self._first + self.record
        next_dram = (self._dram + self.loop.c_stride)[:ADDRESS_BITS]
        in_tile = number[: (dim - 1).bit_length()]
        step = Mux(in_tile == dim - 1, self.loop.j * dim - (dim - 1), 1)
        next_local = (self._local + step)[:LOCAL_BITS]
        with m.If((self.record != STATISTICS - 1) & ~self._last_line):
            m.d.sync += [
                self.record.eq(self.record + 1),
                self._dram.eq(next_dram),
                self._local.eq(next_local),
            ]
        with m.Else():
            m.d.sync += self.record.eq(0)
            with m.If(self.pass_ != _PASSES - 1):
                m.d.sync += [
                    self.pass_.eq(self.pass_ + 1),
                    self._dram.eq(self._group_dram),
                    self._local.eq(self._group_local),
                ]
            with m.Else():
                m.d.sync += [self.pass_.eq(0), self._first.eq(number + 1)]
                self._begin_group(m, next_dram, next_local)

    def choose(self) -> Value:
        """The CONFIG_BERT that chooses the record."""
        base = CONFIG_BERT.encode(statistics_only=1).rs1
        low = next(field.low for field in CONFIG_BERT.fields if field.name == "statistics")
        word = Const(base, ADDRESS_BITS) | (self.record << low)
        return command_of(Funct.CONFIG, word, Const(0, ADDRESS_BITS))

    def row(self) -> Matrix:
        """The row, as a matrix of tiles of one row."""
        one, lacks = Const(1), Const(self.config.dim - 1)
        x = self.loop
        return Matrix(
            Funct.MVOUT, self._dram, Const(0), self._local, Const(0), one, x.j, lacks, x.pad_j
        )

    def norm(self, last: Value) -> Value:
        """The norm command, where it is in a local address, of the `last` tiles or the others."""
        norm: Value = Const(0, NORM_BITS)
        for activation, passes in PASSES.items():
            for number, norms in enumerate(passes):
                chosen = (self.loop.activation == activation) & (self.pass_ == number)
                norm = Mux(chosen, Mux(last, norms[1].value, norms[0].value), norm)
        return norm << NORM_LOW
