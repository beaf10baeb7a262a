"""`Requantizer` against its definition in `celosia.isa.numerics`."""

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from celosia.hw.vector.requantizer import Requantizer, RequantizeRequest
from celosia.isa.config import AcceleratorConfig
from celosia.isa.numerics import relu, requantize_to, scale_from_bits, wrap32
from celosia.isa.presets import PRESETS
from tests.support.reused_simulator import shared_design
from tests.support.streams import simulate

BASE = PRESETS["base"]
NARROW = AcceleratorConfig(dim=2)
INT32 = np.iinfo(np.int32)
FLAGS = ("as_it_is", "raw", "relu", "scale", "int16")
INFINITY, NAN, ONE = 0x7F80_0000, 0x7FC0_0000, 0x3F80_0000
SPECIAL_SCALES = [
    0, 1, 0x7F_FFFF, 0x80_0000, 0x80_0001, 0x7F7F_FFFF, INFINITY, INFINITY + 1, NAN, 0x7FFF_FFFF,
    ONE - 1, ONE, ONE + 1, 0x3F00_0000, 0x3EFF_FFFF, 0x3F00_0001, 0x4700_0000, 0x3000_0000,
]  # fmt: skip
"""Zero, subnormals, smallest normals, largest, infinity, NaNs, and around 1 and 1/2."""
SPECIAL_ELEMENTS = [
    0, 1, 2, 3, 5, 127, 128, 129, 255, 256, 257, (1 << 24) - 1, 1 << 24, (1 << 24) + 1,
    (1 << 24) + 3, (1 << 25) + 2, (1 << 25) + 6, (1 << 25) - 1, (1 << 31) - 64, (1 << 31) - 65,
    INT32.max, -INT32.max, INT32.min,
]  # fmt: skip


@dataclass
class Row:
    """A request, and the results that it must have."""

    elements: np.ndarray
    scale: int = ONE
    bias: np.ndarray | None = None
    raw: bool = False
    relu: bool = False
    as_it_is: bool = False
    int16: bool = False

    def total(self) -> np.ndarray:
        return self.elements if self.bias is None else wrap32(self.elements + self.bias)

    def narrow(self, bits: int) -> list[int]:
        """The result of a requantizer whose results have so many bits."""
        if self.as_it_is or self.raw:
            return self.total().astype(f"int{bits}").tolist()
        kind = np.int16 if self.int16 else np.int8
        result = requantize_to(self.total(), scale_from_bits(self.scale), kind)
        return (relu(result) if self.relu else result).tolist()


def run(config: AcceleratorConfig, rows: list[Row | None]) -> list[int]:
    """Offer a row (or nothing) per cycle and check the results; returns when they came."""
    dut, arrivals = shared_design(Requantizer, config), []
    rng = random.Random(0)

    def drive(ctx, row: Row | None) -> None:
        noise = rng.getrandbits(32 * config.dim)
        ctx.set(dut.bytes.as_value(), noise)
        ctx.set(dut.row.as_value(), noise)
        ctx.set(dut.bias.as_value(), noise)
        ctx.set(dut.request.as_value(), noise & ~1)
        if row is None:
            return
        elements = row.elements.astype(np.int8 if row.as_it_is else np.int32)
        port = dut.bytes if row.as_it_is else dut.row
        ctx.set(port.as_value(), int.from_bytes(elements.tobytes(), "little"))
        flags = {name: getattr(row, name) for name in FLAGS}
        ctx.set(dut.request, flags | {"valid": 1, "biased": row.bias is not None})
        if row.bias is not None:
            content = row.bias.astype(np.int32).tobytes()
            ctx.set(dut.bias.as_value(), int.from_bytes(content, "little"))

    async def bench(ctx):
        expected = [row for row in rows if row is not None]
        narrow, wide = None, None
        for cycle, row in enumerate(rows + [None] * (Requantizer.LATENCY + 2)):
            drive(ctx, row)
            if ctx.get(dut.valid):
                arrivals.append(cycle)
                due = expected[len(arrivals) - 1]
                narrow = due.narrow(len(dut.narrow[0]))
                wide = due.total().tolist() if due.raw or due.as_it_is else wide
            if narrow is not None:  # It also stands when `valid` is over.
                assert [ctx.get(lane) for lane in dut.narrow] == narrow, arrivals
            if wide is not None:
                assert [ctx.get(lane) for lane in dut.wide] == wide, arrivals
            await ctx.tick()
        assert len(arrivals) == len(expected)

    simulate(dut, bench, deadline=len(rows) + 100)
    return arrivals


def magnitudes(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
    """Random int32 of every magnitude."""
    shape = count, dim
    return rng.integers(INT32.min, INT32.max + 1, shape) >> rng.integers(0, 32, shape)


def near_ties(rng: np.random.Generator, elements: np.ndarray) -> int:
    """The bits of a scale that brings an element to n + 1/2, or next to it."""
    element = int(rng.choice(elements)) or 1
    scale = np.float32((rng.integers(-130, 130) + 0.5) / element)
    return int(scale.view(np.uint32)) + int(rng.integers(-1, 2)) & 0xFFFF_FFFF


@pytest.mark.parametrize("seed", range(2))
def test_random_elements_and_scales_match_the_definition(seed):
    rng = np.random.default_rng(seed)
    rows: list[Row | None] = []
    for index, elements in enumerate(magnitudes(rng, 600, BASE.dim)):
        useful = np.float32(2.0 ** rng.uniform(-33, 9) * rng.choice([-1, 1]))
        scales = [near_ties(rng, elements), int(useful.view(np.uint32)), int(rng.integers(1 << 32))]
        scale = scales[index % 3 if index % 9 else 2]
        rows.append(Row(elements, scale, relu=index % 5 == 0, int16=index % 2 == 0))
    run(BASE, rows)


def test_every_kind_of_float_is_a_scale():
    elements = np.array((SPECIAL_ELEMENTS + [-x for x in SPECIAL_ELEMENTS[:-2]])[: 3 * 14])
    padded = np.resize(elements, (-(-len(elements) // BASE.dim), BASE.dim))
    scales = [scale | sign << 31 for scale in SPECIAL_SCALES for sign in (0, 1)]
    for int16 in (False, True):
        run(BASE, [Row(part, scale, int16=int16) for scale in scales for part in padded])


def test_ties_of_each_rounding_go_to_even():
    """Of a power of two as the scale, for numbers that int32 holds and float32 does not."""
    rows: list[Row | None] = []
    for shift in range(1, 31):
        halves = (np.arange(-8, 8) * 2 + 1) * (1 << shift - 1)
        for offset in (-1, 0, 1):
            elements = np.clip(halves + offset, INT32.min, INT32.max)
            rows.append(Row(elements, (127 - shift) << 23, int16=shift % 2 > 0))
    run(BASE, rows)


@pytest.mark.parametrize("int16", [False, True])
def test_every_result_around_the_bounds_of_saturation(int16):
    """Halves and wholes around each bound of both types, of either sign."""
    bounds = np.array([126, 127, 128, 129, 32766, 32767, 32768, 32769])
    elements = np.concatenate([2 * bounds + offset for offset in (-1, 0, 1)])
    elements = np.concatenate([elements, -elements]).reshape(-1, BASE.dim)
    half = 0x3F00_0000
    run(BASE, [Row(part, half | sign << 31, int16=int16) for sign in (0, 1) for part in elements])


def test_large_numbers_become_float32_before_they_are_scaled():
    rng = np.random.default_rng(3)
    elements = rng.integers(1 << 24, 1 << 31, (100, BASE.dim)) * rng.choice([-1, 1], (100, 1))
    run(BASE, [Row(part, near_ties(rng, part)) for part in elements])


@pytest.mark.parametrize("config", [NARROW, AcceleratorConfig(dim=8)], ids=lambda c: f"dim{c.dim}")
@pytest.mark.parametrize("seed", range(3))
def test_rows_of_every_kind_follow_each_other_with_gaps(config, seed):
    rng = np.random.default_rng(seed)
    rows: list[Row | None] = []
    for elements, bias in zip(*(magnitudes(rng, 80, config.dim) for _ in range(2)), strict=True):
        rows += [None] * int(rng.choice([0, 0, 0, 1, 5]))
        scale = near_ties(rng, wrap32(elements + bias))
        kind = rng.integers(5)
        if kind == 0:
            rows.append(Row(elements % 256 - 128, scale, as_it_is=True, relu=True))
        elif kind == 1:
            rows.append(Row(elements, scale, bias, raw=True, relu=True))
        elif kind == 2:
            rows.append(Row(elements, scale, raw=True))
        else:
            rows.append(Row(elements, scale, bias, relu=bool(kind == 3)))
    run(config, rows)


def test_latency_and_throughput_are_as_documented():
    rows: list[Row | None] = [Row(np.array([n, -n])) for n in range(10)]
    arrivals = run(NARROW, rows)
    assert arrivals == [Requantizer.LATENCY + n for n in range(10)]


def test_a_request_is_a_scale_and_flags():
    """It moves along with its row, so that each bit of it is one in every stage."""
    fields: dict[str, Any] = dict(RequantizeRequest().members)
    assert fields.pop("scale").width == 32
    assert set(fields.values()) == {1}
