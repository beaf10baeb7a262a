"""`Scaler` against its definition in `celosia.isa.numerics`."""

import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from celosia.hw.memory.read_port import LOCAL_READ_LATENCY
from celosia.hw.vector.scaler import SCORE, Scaler
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType
from celosia.isa.numerics import requantize, requantize_to, scale_from_bits
from tests.support.reused_simulator import shared_design
from tests.support.streams import simulate

VECTORS = Path(__file__).parents[2] / "vectors" / "requant.npz"
INT32 = np.iinfo(np.int32)
KINDS = {ElementType.INT8: np.int8, ElementType.UINT8: np.uint8, ElementType.INT16: np.int16}
INFINITY, NAN, ONE = 0x7F80_0000, 0x7FC0_0000, 0x3F80_0000
SPECIAL_SCALES = [
    0, 1, 0x7F_FFFF, 0x80_0000, 0x80_0001, 0x7F7F_FFFF, INFINITY, INFINITY + 1, NAN, 0x7FFF_FFFF,
    ONE - 1, ONE, ONE + 1, 0x3F00_0000, 0x3EFF_FFFF, 0x3F00_0001, 0x4700_0000, 0x3000_0000,
]  # fmt: skip
"""Zero, subnormals, smallest normals, largest, infinity, NaNs, and around 1 and 1/2."""
SPECIAL_ELEMENTS = [
    0, 1, 2, 3, 5, 127, 128, 129, 255, 256, 257, 32767, 32768, 32769, 65535, 65536, (1 << 24) - 1,
    1 << 24, (1 << 24) + 1, (1 << 24) + 3, (1 << 25) + 2, (1 << 25) + 6, (1 << 25) - 1,
    (1 << 31) - 64, (1 << 31) - 65, INT32.max, -INT32.max, INT32.min,
]  # fmt: skip


def config(dim: int) -> AcceleratorConfig:
    return AcceleratorConfig(dim=dim)


@dataclass
class Row:
    """A row, what becomes of it, and the result that it must have."""

    elements: np.ndarray
    scale: int = ONE
    scales: np.ndarray | None = None
    kind: ElementType = ElementType.INT16
    zero_point: int = 0
    relu: bool = False
    present: int = -1
    """Bits of the columns that there are."""

    def long(self, dropped: int) -> bool:
        """Whether the scale of a column that there is has one of its low `dropped` bits."""
        scales = [] if self.scales is None else self.scales.tolist()
        return any(
            scale % (1 << dropped) and self.present >> lane & 1 for lane, scale in enumerate(scales)
        )

    def expected(self) -> list[int]:
        bits = self.scale if self.scales is None else self.scales
        if self.kind is SCORE:
            scale, low = scale_from_bits(bits), 0 if self.relu else -(1 << 23)
            return requantize(self.elements, scale, low=low, high=(1 << 23) - 1).tolist()
        result = requantize_to(
            self.elements,
            scale_from_bits(bits),
            KINDS[self.kind],
            zero_point=self.zero_point if self.kind is ElementType.UINT8 else 0,
            rectify=self.relu,
        )
        return result.tolist()


def run(dim: int, rows: list[Row | None], scale_bits: int = 24) -> list[int]:
    """Offer a row (or nothing) per cycle and check the results; returns when they came."""
    dut, arrivals = shared_design(Scaler, config(dim).with_values({"scale_bits": scale_bits})), []
    expected = [row.expected() for row in rows if row is not None]
    longs = [row.long(24 - scale_bits) for row in rows if row is not None]
    rng = random.Random(0)

    def drive(ctx, row: Row | None, number: int) -> None:
        ctx.set(dut.start, row is not None)
        elements = [rng.getrandbits(31)] * dim if row is None else row.elements.tolist()
        for lane, element in enumerate(elements):
            ctx.set(dut.row[lane], element)
        fields = ("kind", "zero_point", "relu", "scale")
        noise = {"kind": 0, "zero_point": 7, "relu": 1, "scale": rng.getrandbits(32)}
        ctx.set(dut.present, (1 << dim) - 1 if row is None else row.present % (1 << dim))
        request = noise if row is None else {name: getattr(row, name) for name in fields}
        by_column = row is not None and row.scales is not None
        ctx.set(dut.request, request | {"by_column": by_column, "scale_row": number % 128})

    async def bench(ctx):
        reads: list[int | None] = [None] * LOCAL_READ_LATENCY
        offered = [row for row in rows if row is not None]
        columns = [n for n, row in enumerate(offered) if row.scales is not None]
        number = 0
        for cycle, row in enumerate(rows + [None] * (dut.LATENCY + 2)):
            drive(ctx, row, number)
            number += row is not None
            reads.append(None)
            if ctx.get(dut.scales.valid):
                reads[-1] = columns.pop(0)
                assert ctx.get(dut.scales.row) == reads[-1] % 128
            read = reads.pop(0)
            for lane in range(dim):
                scales = None if read is None else offered[read].scales
                content = rng.getrandbits(31) if scales is None else int(scales[lane])
                ctx.set(dut.scales.data[lane], content - (content >> 31 << 32))
            if ctx.get(dut.valid):
                arrivals.append(cycle)
                number_out = len(arrivals) - 1
                long = longs[number_out]
                assert ctx.get(dut.long) == long, number_out
                for lane, element in enumerate(expected[number_out]):
                    there = offered[number_out].present >> lane & 1 and not long
                    assert not there or ctx.get(dut.elements[lane]) == element, number_out
            await ctx.tick()
        assert len(arrivals) == len(expected)
        assert not columns

    simulate(dut, bench, deadline=len(rows) + 100)
    return arrivals


def magnitudes(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
    """Random int32 of every magnitude."""
    shape = count, dim
    return rng.integers(INT32.min, INT32.max + 1, shape) >> rng.integers(0, 32, shape)


def near_ties(rng: np.random.Generator, elements: np.ndarray, limit: int) -> int:
    """The bits of a scale that brings an element to n + 1/2, or next to it."""
    element = int(rng.choice(elements)) or 1
    scale = np.float32((rng.integers(-limit, limit) + 0.5) / element)
    return int(scale.view(np.uint32)) + int(rng.integers(-1, 2)) & 0xFFFF_FFFF


def random_rows(seed: int, dim: int, count: int) -> list[Row | None]:
    """Rows of every kind; half of the scales are per column."""
    rng = np.random.default_rng(seed)
    rows: list[Row | None] = []
    for elements in magnitudes(rng, count, dim):
        useful = np.float32(2.0 ** rng.uniform(-33, 17) * rng.choice([-1, 1]))
        choices = [near_ties(rng, elements, limit) for limit in (140, 300, 33_000, 8_400_000)]
        scale = int(rng.choice([*choices, int(useful.view(np.uint32)), int(rng.integers(1 << 32))]))
        scales = np.array([near_ties(rng, elements, 40_000) for _ in range(dim)], np.int64)
        rows.append(
            Row(
                elements,
                scale,
                scales=scales if rng.integers(2) else None,
                kind=ElementType(rng.integers(4)),
                zero_point=int(rng.choice([0, 1, 128, 255])),
                relu=bool(rng.integers(3) == 0),
            )
        )
    return rows


@pytest.mark.parametrize("bits", [8, 23])
def test_long_scales_of_columns_that_there_are_come_with_the_result(bits):
    """One bit of one column is enough, at either end of what is dropped."""
    rng, dropped, rows = random.Random(bits), 24 - bits, []
    for row in random_rows(bits, 4, 200):
        assert row is not None
        row.scale &= -1 << dropped
        if row.scales is not None:
            scales = row.scales & -1 << dropped
            scales[rng.randrange(4)] |= rng.choice([0, 1, 1 << dropped - 1])
            row.scales = scales
        row.present = rng.choice([0b1111, 0b0111, 0b0001, 0])
        rows.append(row)
    run(4, rows, bits)


@pytest.mark.parametrize("dim", [2, 4, 16])
def test_random_rows_of_every_kind_back_to_back(dim):
    run(dim, random_rows(dim, dim, 1600 // dim))


def test_rows_of_every_kind_follow_each_other_with_gaps():
    rng = random.Random(1)
    rows: list[Row | None] = []
    for row in random_rows(3, 4, 150):
        rows += [None] * rng.choice((0, 0, 0, 1, 15)) + [row]
    run(4, rows)


@pytest.mark.parametrize("kind", [*KINDS, SCORE])
def test_every_kind_of_float_is_a_scale(kind):
    elements = np.array(SPECIAL_ELEMENTS + [-x for x in SPECIAL_ELEMENTS[:-2]])
    padded = np.resize(elements, (-(-len(elements) // 16), 16))
    scales = [scale | sign << 31 for scale in SPECIAL_SCALES for sign in (0, 1)]
    run(16, [Row(part, scale, kind=kind, zero_point=3) for scale in scales for part in padded])


def test_ties_of_each_rounding_go_to_even():
    """Of a power of two as the scale, for numbers that int32 holds and float32 does not."""
    rows: list[Row | None] = []
    for shift in range(1, 31):
        halves = (np.arange(-8, 8) * 2 + 1) * (1 << shift - 1)
        for offset in (-1, 0, 1):
            elements = np.clip(halves + offset, INT32.min, INT32.max)
            rows.append(Row(elements, (127 - shift) << 23))
    run(16, rows)


@pytest.mark.parametrize(("kind", "bits"), [(ElementType.INT16, 16), (SCORE, 24)])
def test_bounds_of_a_type(kind, bits):
    """Products next to the largest and the smallest number, and to the next power of two."""
    top = 1 << bits - 1
    elements = np.array([top - 1, top, top + 1, 2 * top - 2, 2 * top - 1, 2 * top, 4 * top - 1])
    elements = np.append(elements, 1 << 30)
    rows: list[Row | None] = []
    for scale in (1.0, 0.5, 0.49999997, 0.25, 0.99999994, 1.0000001, 2.0, 2.0**15, 3.0e-5):
        word = int(np.float32(scale).view(np.uint32))
        for sign in (1, -1):
            rows.append(Row(sign * elements, word, kind=kind))
            small = sign * np.array([0, 1, 2, 3, 4, 5, 6, 7])
            rows.append(Row(small, word + (bits - 1 << 23), kind=kind))
    run(8, rows)


def test_vectors():
    given = np.load(VECTORS)
    scales = given["scale"].view(np.uint32).astype(np.int64)
    rows: list[Row | None] = []
    for part in range(3):
        columns = slice(16 * part, 16 * part + 16)
        for index, elements in enumerate(given["acc"][:, columns]):
            for kind, name, zero in (
                (ElementType.INT8, "s8", 0),
                (ElementType.INT16, "s16", 0),
                (ElementType.UINT8, "u8_zp17", 17),
            ):
                row = Row(elements, scales=scales[columns], kind=kind, zero_point=zero)
                assert row.expected() == given[name][index, columns].tolist()
                rows.append(row)
    run(16, rows)


def test_latency_and_throughput_are_as_documented():
    rows: list[Row | None] = [Row(np.array([n, -n])) for n in range(10)]
    assert run(2, rows) == [10 + n for n in range(10)]
