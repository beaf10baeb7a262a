"""What LOOP_WS knows of a loop: its matrices, and where they are."""

from types import SimpleNamespace

from amaranth import Cat, Const, Module, Mux, Signal, Value

from celosia.hw.gemmini.loops.moves import Matrix
from celosia.hw.gemmini.loops.tiles import LOCAL_BITS, SIZE_BITS
from celosia.isa.address import ACCUMULATE_BIT, ACCUMULATOR_BIT, FULL_BIT
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Funct
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS
from celosia.isa.operations.loop_ws import PASSES

__all__ = ["State"]

_KEPT_VALUES = ("i", "j", "k", "pad_i", "pad_j", "pad_k", "c", "c_stride")
_KEPT_FLAGS = ("accumulate", "full_c", "activation", "a_transpose", "b_transpose")


class State:
    """The configuration, the loop that comes in (`new`), and the one before it (`held`).

    For both loops, `half_a` to `half_c` say which halves they use, `a_first` to `c_first` where
    their tiles begin, and `fits` whether they are within these halves.
    """

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        operands = [operand for known in LOOP_WS_CONFIGS for operand in known.operands]
        self.values = {o.name: Signal(o.bits, name=f"value_{o.name}") for o in operands}
        self.run = {
            o.name: Signal(o.bits, name=f"run_{o.name}", reset_less=True) for o in LOOP_WS.operands
        }
        self._next = {name: Signal(name=f"half_{name}") for name in "abc"}
        tiles = self.values["i"], self.values["j"]
        self._some = Cat(count != 0 for count in tiles).all()
        self._depth = self.values["k"] != 0
        self._has = {name: (self.values[name] != 0) & ~self.run[f"skip_{name}"] for name in "abcd"}
        self._a_tiles, self._b_tiles, self._c_tiles = (
            Signal(2 * SIZE_BITS, name=f"{name}_tiles", reset_less=True) for name in "abc"
        )
        self.new = self._new()
        self.held = SimpleNamespace(**{
            name: Signal(len(value), name=f"held_{name}", reset_less=True)
            for name, value in vars(self.new).items()
        })

    def _new(self) -> SimpleNamespace:
        firsts = {
            f"{name}_first": Signal(LOCAL_BITS, name=f"{name}_first", reset_less=True)
            for name in "abc"
        }
        halves = {
            f"half_{name}": Signal(name=f"new_half_{name}", reset_less=True) for name in "abc"
        }
        skips = self.run["residual"] | self.run["skip_products"]
        return SimpleNamespace(
            **{name: self.values[name] for name in _KEPT_VALUES},
            **{name: self.run[name] for name in _KEPT_FLAGS},
            **firsts,
            **halves,
            fits=Signal(name="new_fits", reset_less=True),
            multiplies=self._some & self._depth & ~skips,
            stores=self._some & self._has["c"],
            normalizes=Cat(self.run["activation"] == known for known in PASSES).any(),
        )

    def size(self, m: Module) -> None:
        """First: how many tiles there are."""
        i, j, k = (self.values[name] for name in "ijk")
        m.d.sync += [self._a_tiles.eq(i * k), self._b_tiles.eq(k * j), self._c_tiles.eq(i * j)]

    def place(self, m: Module) -> None:
        """Then: the halves of this loop, and those of the next."""
        config, new = self.config, self.new
        half, words = config.scratchpad_rows // 2, config.accumulator_rows // 2
        c_fits = self._c_tiles * config.dim <= words
        upper: dict[str, Value] = {"c": self._next["c"] & c_fits}
        for name in "ab":
            given = self.run[f"{name}_half"]
            upper[name] = Mux(given != 0, ~given[0], self._next[name])
            with m.If(given == 0):
                m.d.sync += self._next[name].eq(~self._next[name])
        with m.If(self._has["c"]):
            m.d.sync += self._next["c"].eq(~self._next["c"])
        m.d.sync += [
            *(getattr(new, f"half_{name}").eq(value) for name, value in upper.items()),
            new.fits.eq(c_fits & ((self._a_tiles + self._b_tiles) * config.dim <= half)),
            new.a_first.eq(Mux(upper["a"], half, 0)),
            new.b_first.eq(Mux(upper["b"], 2 * half, half) - self._b_tiles * config.dim),
            new.c_first.eq(Mux(upper["c"], words, 0) | 1 << ACCUMULATOR_BIT),
        ]

    def hold(self, m: Module) -> None:
        """The loop that came in becomes the one before."""
        for name, register in vars(self.held).items():
            m.d.sync += register.eq(getattr(self.new, name))

    def beside(self) -> Value:
        """Whether loads of `new` may come between products of `held`."""
        new, held = self.new, self.held
        used = [held.half_a, held.half_b]
        meets_a = self._has["a"] & Cat(new.half_a == half for half in used).any()
        meets_b = self._has["b"] & Cat(new.half_b == half for half in used).any()
        meets_c = (self._has["d"] | self.run["residual"]) & (new.half_c == held.half_c)
        return new.fits & held.fits & ~(meets_a | meets_b | meets_c)

    def loads(self) -> Value:
        """Which of `matrices` are to be loaded."""
        adds = self.run["residual"]
        inner = self._depth | adds
        has = self._has["d"] & ~adds, self._has["a"] & inner, self._has["b"] & inner
        sides = self._some, self.values["i"] != 0, self.values["j"] != 0
        others = sides[0], Mux(adds, self._some, sides[1]), Mux(adds, self._some, sides[2])
        return Cat(one & other for one, other in zip(has, others, strict=True))

    def matrices(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """D, A and B of the new loop, and C of the one before."""
        v, new, held, adds = self.values, self.new, self.held, self.run["residual"]

        def operand(name: str, funct: Funct, plain: str, turned: str, flags: int) -> Matrix:
            turns = self.run[f"{name}_transpose"]
            first = getattr(new, f"{name}_first")

            def chosen(index: int, prefix: str = "") -> Value:
                named = (v[f"{prefix}{axes[index]}"] for axes in (turned, plain))
                return Mux(adds, v[f"{prefix}{'ij'[index]}"], Mux(turns, *named))

            return Matrix(
                funct, v[name], v[f"{name}_stride"], Mux(adds, new.c_first | flags, first),
                Const(0), chosen(0), chosen(1), chosen(0, "pad_"), chosen(1, "pad_"),
            )  # fmt: skip

        c_local = held.c_first | (held.full_c << FULL_BIT)
        return (
            Matrix(
                Funct.MVIN3, v["d"], v["d_stride"], new.c_first, ~self.run["low_d"],
                v["i"], v["j"], v["pad_i"], v["pad_j"],
            ),
            operand("a", Funct.MVIN, "ik", "ki", 0),
            operand("b", Funct.MVIN2, "kj", "jk", 1 << ACCUMULATE_BIT),
            Matrix(
                Funct.MVOUT, held.c, held.c_stride, c_local, held.full_c,
                held.i, held.j, held.pad_i, held.pad_j,
            ),
        )  # fmt: skip
