"""The commands of LOOP_WS: what moves where, and when the next loop's loads come between."""

from collections.abc import Sequence

import numpy as np
import pytest

from celosia.isa.address import ACCUMULATE_BIT, ACCUMULATOR_BIT
from celosia.isa.encoding import (
    COMPUTE_PRELOADED,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    FENCE,
    MVIN,
    MVIN2,
    Command,
)
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.operations.loop_ws import LoopWs
from celosia.isa.presets import PRESETS
from celosia.sim.devices.devices import open_device

CONFIG = PRESETS["gemmini4"]
DIM = CONFIG.dim
BOUNDS, ADDRESSES_AB, ADDRESSES_DC, STRIDES_AB, STRIDES_DC = LOOP_WS_CONFIGS


def expanded(commands: list[Command]) -> list[Command]:
    expansion = LoopWs(CONFIG)
    made = [made for command in commands for _, made in expansion.expand(command)]
    return [*made, *(made for _, made in expansion.finish())]


def product(i: int, j: int, k: int, **run: int) -> list[Command]:
    """A product of so many tiles, with operands in memory and no D."""
    return [
        BOUNDS.encode(i=i, j=j, k=k),
        ADDRESSES_AB.encode(a=0x10000, b=0x80000),
        ADDRESSES_DC.encode(d=0, c=0x200000),
        STRIDES_AB.encode(a_stride=1000, b_stride=3000),
        STRIDES_DC.encode(d_stride=0, c_stride=500),
        LOOP_WS.encode(**run),
    ]


def test_a_residual_loads_both_where_results_stand_and_adds_the_second():
    i, j = 2, CONFIG.max_blocks + 1
    found = expanded(product(i, j, 7, residual=1))
    assert not any(made.funct == COMPUTE_PRELOADED.funct for made in found)
    for move, base, stride, adds in ((MVIN, 0x10000, 1000, 0), (MVIN2, 0x80000, 3000, 1)):
        loads = [move.decode(made) for made in found if made.funct == move.funct]
        wanted = [
            (
                base + (row * stride + col) * DIM,
                1 << ACCUMULATOR_BIT | adds << ACCUMULATE_BIT | (row * j + col) * DIM,
                tiles * DIM,
            )
            for row in range(i)
            for col, tiles in ((0, CONFIG.max_blocks), (CONFIG.max_blocks, 1))
        ]
        assert [(load["dram"], load["local"], load["local_cols"]) for load in loads] == wanted


HALF = CONFIG.scratchpad_rows // 2 // DIM
"""Tiles in half of the scratchpad."""


@pytest.mark.parametrize(
    ("i", "j", "k", "between"),
    [(8, 8, HALF // 16, True), (8, 8, HALF // 16 + 1, False), (3, 1, HALF // 4, True)],
)
def test_loads_come_between_products_if_all_operands_are_in_one_half(i, j, k, between):
    found = expanded(product(i, j, k) + product(i, j, k))
    functs = [made.funct for made in found]
    products = [place for place, funct in enumerate(functs) if funct == COMPUTE_PRELOADED.funct]
    last_of_first = products[len(products) // 2 - 1]
    loads = [place for place, funct in enumerate(functs) if funct in (MVIN.funct, MVIN2.funct)]
    first_load_of_second = loads[len(loads) // 2]
    assert (first_load_of_second < last_of_first) is between


A, B, C, D = (MEMORY_BASE + (1 << 16) * index for index in range(4))
WIDE = 2 * CONFIG.max_blocks + 1
"""Tiles of which a move takes two times the most, and one more."""


class Operands:
    """Random operands of C = A * B + D in memory, and the loops that compute it."""

    def __init__(self, m: int, n: int, k: int, **flags: int):
        rng = np.random.default_rng(m * n + k)
        self.m, self.n, self.k, self.flags = m, n, k, {"full_c": 1, **flags}
        self.a, self.b = rng.integers(-128, 128, (m, k)), rng.integers(-128, 128, (k, n))
        self.d = rng.integers(-128, 128, (m, n))
        self.a_stride = m if self.has("a_transpose") else k
        self.b_stride = k if self.has("b_transpose") else n

    def has(self, flag: str) -> int:
        return self.flags.get(flag, 0)

    def loop(self, first: int = 0, last: int | None = None, **run: int) -> list[Command]:
        """The products with the elements `first` to before `last` of each row of A."""
        sizes = {"i": self.m, "j": self.n, "k": (self.k if last is None else last) - first}
        tiles = {name: -(-size // DIM) for name, size in sizes.items()}
        pads = {f"pad_{name}": DIM * tiles[name] - size for name, size in sizes.items()}
        a = first * (self.m if self.has("a_transpose") else 1)
        b = first * (1 if self.has("b_transpose") else self.n)
        return [
            BOUNDS.encode(**tiles, **pads),
            ADDRESSES_AB.encode(a=A + a, b=B + b),
            ADDRESSES_DC.encode(d=D if run.get("accumulate", 1) else 0, c=C),
            STRIDES_AB.encode(a_stride=self.a_stride, b_stride=self.b_stride),
            STRIDES_DC.encode(d_stride=self.n, c_stride=self.n),
            LOOP_WS.encode(**self.flags, **run),
        ]

    def results(self, *loops: Sequence[Command]) -> np.ndarray:
        """What the loops leave in memory as C."""
        turned = {name: self.has(name) for name in ("a_transpose", "b_transpose")}
        low, size = self.has("low_d"), 4 if self.has("full_c") else 1
        strides = (self.a_stride, self.b_stride, self.n * (1 if low else 4))
        commands = [
            CONFIG_EX.encode(**turned),
            *(
                CONFIG_LD.encode(
                    set=number, stride=stride, block_stride=DIM, shrunk=low * (number == 2)
                )
                for number, stride in enumerate(strides)
            ),
            CONFIG_ST.encode(stride=size * self.n),
            *(command for loop in loops for command in loop),
            FENCE.encode(),
        ]
        device = open_device("functional", CONFIG, memory_bytes=1 << 18)
        device.write(A, (self.a.T if turned["a_transpose"] else self.a).astype("i1").tobytes())
        device.write(B, (self.b.T if turned["b_transpose"] else self.b).astype("i1").tobytes())
        device.write(D, self.d.astype("i1" if low else "<i4").tobytes())
        device.write(C, bytes([7]) * (1 << 15))
        device.run(commands, "stream")
        length = size * self.m * self.n
        found = np.frombuffer(device.read(C, length), f"<i{size}")
        assert {*device.read(C + length, 4 * DIM * self.n)} == {7}, "more is stored than C"
        device.close()
        return found.reshape(self.m, self.n)


@pytest.mark.parametrize(
    "sizes", [(7, 5, 6), (4, 4, 4), (9, WIDE * DIM - 1, 10), (5, 6, WIDE * DIM)]
)
@pytest.mark.parametrize(
    "flags", [{}, {"a_transpose": 1}, {"b_transpose": 1}, {"low_d": 1}], ids=str
)
def test_a_loop_is_a_product_and_a_sum(sizes, flags):
    given = Operands(*sizes, **flags)
    found = given.results(given.loop(accumulate=1))
    assert np.array_equal(found, given.a @ given.b + given.d)


def test_results_of_bytes_saturate():
    given = Operands(6, 7, 9, full_c=0)
    expected = np.clip(given.a @ given.b + given.d, -128, 127)
    assert np.array_equal(given.results(given.loop(accumulate=1)), expected)


@pytest.mark.parametrize("halves", [{}, {"a_half": 1, "b_half": 2}, {"a_half": 2, "b_half": 1}])
def test_loops_one_after_the_other_add_to_what_the_first_began(halves):
    """The second loop has other columns of A and neither D nor another half of the accumulator."""
    given = Operands(9, 11, 21)
    first = given.loop(0, 8, accumulate=1, skip_c=1, **halves)
    second = given.loop(8, 21, accumulate=1, skip_d=1, **halves)
    assert np.array_equal(given.results(first, second), given.a @ given.b + given.d)


def test_a_loop_that_does_not_accumulate_begins_anew():
    given = Operands(5, 6, 12)
    before = given.loop(0, 12, accumulate=1, skip_c=1)
    found = given.results(before, given.loop(4, 12, accumulate=0))
    assert np.array_equal(found, given.a[:, 4:] @ given.b[4:])


def test_operands_that_are_there_are_not_loaded_again():
    """With halves of their own, A and B of the first loop stay for the second one."""
    given = Operands(7, 6, 5)
    halves = {"a_half": 1, "b_half": 2}
    first = given.loop(accumulate=1, skip_c=1, **halves)
    again = given.loop(accumulate=1, skip_a=1, skip_b=1, **halves)
    assert np.array_equal(given.results(first, again), given.a @ given.b + given.d)
