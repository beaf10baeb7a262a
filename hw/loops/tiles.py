"""Where LOOP_WS is: tiles, their places in memory, and the rows that are normalized."""

from amaranth import Cat, Const, Module, Mux, Signal, Value

from celosia.isa.address import ACCUMULATOR_BIT, NORM_LOW
from celosia.isa.bert import STATISTICS, Activation
from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.encoding import CONFIG_BERT, FUNCT_BITS
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS
from celosia.isa.loop_ws import PASSES

__all__ = ["Lines", "Pointer", "State", "command_of", "tile_word"]

ADDRESS_BITS = 64
LOCAL_BITS = 32
SIZE_BITS = 16
_PASSES = len(PASSES[Activation.SOFTMAX])


def tile_word(local: Value, cols: Value, rows: Value) -> Value:
    """An operand that is a local address with its columns and rows."""
    return Cat(_cut(local, LOCAL_BITS), _cut(cols, SIZE_BITS), _cut(rows, SIZE_BITS))


def command_of(funct: Value | int, rs1: Value, rs2: Value) -> Value:
    """A `COMMAND`."""
    code = funct if isinstance(funct, Value) else Const(int(funct))
    return Cat(_cut(code, FUNCT_BITS), _cut(rs1, ADDRESS_BITS), _cut(rs2, ADDRESS_BITS))


def _cut(value: Value, bits: int) -> Value:
    """`value` as so many bits."""
    return (value | Const(0, bits))[:bits]


class Pointer:
    """The place of a tile in two nested loops."""

    def __init__(self, name: str, bits: int):
        self.now = Signal(bits, name=name, reset_less=True)
        self._start = Signal(bits, name=f"{name}_start", reset_less=True)  # Of the inner loop.
        self._inner = Signal(bits, name=f"{name}_inner", reset_less=True)
        self._outer = Signal(bits, name=f"{name}_outer", reset_less=True)

    def set(self, m: Module, first: Value, inner: Value | int, outer: Value | int) -> None:
        """Begin both loops."""
        m.d.sync += [
            self.now.eq(first),
            self._start.eq(first),
            self._inner.eq(inner),
            self._outer.eq(outer),
        ]

    def inner(self, m: Module) -> None:
        """The inner loop goes on."""
        m.d.sync += self.now.eq(self.now + self._inner)

    def again(self, m: Module) -> None:
        """The inner loop begins again, at the same place."""
        m.d.sync += self.now.eq(self._start)

    def outer(self, m: Module) -> None:
        """The outer loop goes on."""
        m.d.sync += [
            self.now.eq(self._start + self._outer),
            self._start.eq(self._start + self._outer),
        ]


class State:
    """What the configuring commands left, the run, and the tile that it has come to."""

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        operands = [operand for known in LOOP_WS_CONFIGS for operand in known.operands]
        self.values = {o.name: Signal(o.bits, name=f"value_{o.name}") for o in operands}
        self.run = {
            o.name: Signal(o.bits, name=f"run_{o.name}", reset_less=True) for o in LOOP_WS.operands
        }
        self.i, self.j, self.k = (self.values[name] for name in "ijk")
        self.row, self.col, self.depth = (
            Signal(SIZE_BITS, name=n) for n in ("row", "col", "depth")
        )
        self.last_i, self.last_j = self.row + 1 == self.i, self.col + 1 == self.j
        self.last_k = self.depth + 1 == self.k
        self.extents = {
            name: config.dim - Mux(last, self.values[f"pad_{name}"], 0)
            for name, last in (("i", self.last_i), ("j", self.last_j), ("k", self.last_k))
        }
        self.loads_a, self.loads_b = self.values["a"] != 0, self.values["b"] != 0
        self.stores = self.values["c"] != 0
        activation = self.run["activation"]
        self.normalizes = Cat(activation == known for known in PASSES).any()
        self.a, self.b, self.c = (Pointer(name, ADDRESS_BITS) for name in "abc")
        self.a_local, self.b_local, self.c_local = (
            Pointer(f"{n}_local", LOCAL_BITS) for n in "abc"
        )
        self.lines = Lines(config)
        # Halves that are next, and sizes.
        self.halves = {name: Signal(name=f"half_{name}") for name in "abc"}
        self.a_first, self.b_first, self.c_first = (
            Signal(LOCAL_BITS, name=f"{n}_first", reset_less=True) for n in "abc"
        )
        self.row_tiles = Signal(2 * SIZE_BITS, reset_less=True)  # Of B.
        self.c_tiles = Signal(2 * SIZE_BITS, reset_less=True)

    def place(self, m: Module) -> None:
        """The halves of this run, and those of the next."""
        config = self.config
        half, words = config.scratchpad_rows // 2, config.accumulator_rows // 2
        fits = self.c_tiles * config.dim <= words
        upper: dict[str, Value] = {name: self.halves[name] for name in "abc"}
        for name in "ab":
            given = self.run[f"{name}_half"]
            upper[name] = Mux(given != 0, ~given[0], self.halves[name])
            with m.If(given == 0):
                m.d.sync += self.halves[name].eq(~self.halves[name])
        with m.If(self.stores):
            m.d.sync += self.halves["c"].eq(~self.halves["c"])
        m.d.sync += [
            self.a_first.eq(Mux(upper["a"], half, 0)),
            self.b_first.eq(Mux(upper["b"], 2 * half, half) - self.row_tiles * config.dim),
            self.c_first.eq(Mux(fits & upper["c"], words, 0)),
        ]

    def set(self, m: Module) -> None:
        """Begin at the first tiles."""
        dim, values = self.config.dim, self.values
        m.d.sync += [self.row.eq(0), self.col.eq(0), self.depth.eq(0)]
        adds = self.run["residual"]
        for name, pointer in (("a", self.a), ("b", self.b)):
            line = values[f"{name}_stride"] * dim
            # Plain: A goes down in the inner loop, B to the right; where both are added, down.
            down = (
                adds | ~self.run["a_transpose"] if name == "a" else adds | self.run["b_transpose"]
            )
            pointer.set(m, values[name], Mux(down, line, dim), Mux(down, dim, line))
        a_turned, b_turned = self.run["a_transpose"], self.run["b_transpose"]
        self.a_local.set(
            m,
            self.a_first,
            Mux(a_turned, dim, self.k * dim),
            Mux(a_turned, self.i * dim, dim),
        )
        self.b_local.set(
            m,
            self.b_first,
            Mux(b_turned, self.k * dim, dim),
            Mux(b_turned, dim, self.j * dim),
        )
        self.set_c(m)
        with m.If(~adds & (values["d"] != 0)):
            size = Mux(self.run["low_d"], 0, (ACC_BYTES - 1).bit_length())
            line = values["d_stride"] * dim
            self.c.set(m, values["d"], line << size, Const(dim) << size)

    def set_c(self, m: Module) -> None:
        """Begin at the first tile of C."""
        dim, values = self.config.dim, self.values
        wide = self.run["full_c"] & ~self.run["residual"] & ~self.normalizes
        size = Mux(wide, (ACC_BYTES - 1).bit_length(), 0)
        self.c.set(m, values["c"], (values["c_stride"] * dim) << size, Const(dim) << size)
        self.c_local.set(m, self.c_first, self.j * dim, dim)


class Lines:
    """The rows of C that are normalized: as many at a time as there are records, in passes."""

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self.record = Signal(range(STATISTICS), reset_less=True)
        self.pass_ = Signal(range(_PASSES), reset_less=True)
        self._first = Signal(LOCAL_BITS, name="first_line", reset_less=True)  # Of the group.
        self._dram = Signal(ADDRESS_BITS, name="line_dram", reset_less=True)
        self._local = Signal(LOCAL_BITS, name="line_local", reset_less=True)
        self._group_dram = Signal(ADDRESS_BITS, name="group_dram", reset_less=True)
        self._group_local = Signal(LOCAL_BITS, name="group_local", reset_less=True)
        self.over = Signal()
        """The last pass over the last row ends with this block."""

    def begin(self, m: Module, s: State) -> None:
        """With the first row."""
        m.d.sync += [self.record.eq(0), self.pass_.eq(0), self._first.eq(0)]
        m.d.sync += [x.eq(s.values["c"]) for x in (self._dram, self._group_dram)]
        m.d.sync += [x.eq(s.c_first) for x in (self._local, self._group_local)]
        m.d.sync += [s.row.eq(0), s.col.eq(0)]

    def advance(self, m: Module, s: State) -> None:
        """The next row, pass, or group."""
        dim = self.config.dim
        lines = s.i * dim - s.values["pad_i"]
        number = self._first + self.record
        last_line = number + 1 == lines
        next_dram = (self._dram + s.values["c_stride"])[:ADDRESS_BITS]
        in_tile = number[: (dim - 1).bit_length()]
        next_local = self._local + Mux(in_tile == dim - 1, s.j * dim - (dim - 1), 1)
        with m.If((self.record != STATISTICS - 1) & ~last_line):
            m.d.sync += [
                self.record.eq(self.record + 1),
                self._dram.eq(next_dram),
                self._local.eq(next_local),
            ]
        with m.Elif(self.pass_ != _PASSES - 1):
            m.d.sync += [
                self.record.eq(0),
                self.pass_.eq(self.pass_ + 1),
                self._dram.eq(self._group_dram),
                self._local.eq(self._group_local),
            ]
        with m.Else():
            m.d.comb += self.over.eq(last_line)
            m.d.sync += [self.record.eq(0), self.pass_.eq(0), self._first.eq(number + 1)]
            m.d.sync += [x.eq(next_dram) for x in (self._dram, self._group_dram)]
            m.d.sync += [x.eq(next_local) for x in (self._local, self._group_local)]

    def record_word(self) -> Value:
        """rs1 of the CONFIG_BERT that chooses the record."""
        base = CONFIG_BERT.encode(statistics_only=1).rs1
        low = next(field.low for field in CONFIG_BERT.fields if field.name == "statistics")
        return Const(base, ADDRESS_BITS) | (self.record << low)

    def address(self, s: State) -> Value:
        """Of the block of the row, in memory."""
        return self._dram + s.col * self.config.dim

    def local(self, s: State) -> Value:
        """The same in the accumulator, with its norm command."""
        norm: Value = Const(0, 3)
        for activation, passes in PASSES.items():
            for number, (before, last) in enumerate(passes):
                chosen = (s.run["activation"] == activation) & (self.pass_ == number)
                norm = Mux(chosen, Mux(s.last_j, last.value, before.value), norm)
        local = self._local + s.col * self.config.dim
        return local | (norm << NORM_LOW) | (1 << ACCUMULATOR_BIT)
