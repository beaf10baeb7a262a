"""Random rows of every operator through command words, against its definition in Python integers.

The definitions are those of `tests/support/integer_reference.py`: independent of the RTL, of the
functional model and of the library that both are written with.  Operators on elements are given
as many elements as others are given rows.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from celosia.isa.memory import MemoryTiming
from celosia.sim.devices.devices import open_device
from celosia.sw.ir.graph import Activation, AddResidual, Mask, Requantize, View
from tests.support import integer_reference as reference
from tests.support.levels import configured
from tests.support.operators import Blocks, Operators

Array = NDArray[Any]

NARROW = ("int8", "uint8", "int16")
NOTHING = View("", 0, 0, 1, 1)


@dataclass(frozen=True)
class Place:
    """A simulator, and how much it is given."""

    simulator: str
    preset: str
    rows: int
    """Rows, or elements of operators on elements."""


PLACES = {
    "functional, some": Place("functional", "base", 150),
    "functional": Place("functional", "base", 10_000),
    "verilator": Place("verilator", "base", 10_000),
    "amaranth": Place("amaranth", "tiny", 500),
}
HEAVY = {
    "functional": pytest.mark.slow,
    "verilator": pytest.mark.slow,
    "amaranth": pytest.mark.nightly,
}


@dataclass
class Bench:
    """Operators, and random operands of the size that their simulator bears."""

    operators: Operators
    rows: int
    random: np.random.Generator

    @property
    def width(self) -> int:
        """Columns of a row: more than a block, and no multiple of one."""
        return self.operators.device.config.dim + 3

    def int32(self, rows: int, cols: int) -> Array:
        """Of every magnitude, extremes among them."""
        return _magnitudes(self.random, rows, cols, 32)

    def int16(self, rows: int, cols: int) -> Array:
        return _magnitudes(self.random, rows, cols, 16)

    def matrix_rows(self) -> int:
        """Rows of a matrix of as many elements as there are to be rows."""
        return -(-self.rows // self.width)

    def blocks(self, keys: int) -> Blocks:
        """Rows by blocks, each with a mask of its own: none, some of all keys, no keys at all."""
        masks = [Mask(), Mask(causal=True), Mask(keys=0)]
        masks += [Mask(keys=n, causal=bool(n % 2)) for n in range(1, keys)]
        size = min(self.operators.device.config.dim, 8)
        starts = range(0, self.rows, size)
        return [
            (min(size, self.rows - start), masks[self.random.integers(len(masks))])
            for start in starts
        ]


@pytest.fixture(scope="module", params=[pytest.param(n, marks=HEAVY.get(n, ())) for n in PLACES])
def bench(request) -> Iterator[Bench]:
    place = PLACES[request.param]
    config = configured(place.preset)
    device = open_device(place.simulator, config, MemoryTiming(latency=10), 1 << 23)
    with closing(device):
        yield Bench(Operators(device), place.rows, np.random.default_rng(place.rows))


def _magnitudes(random: np.random.Generator, rows: int, cols: int, bits: int) -> Array:
    limit = 1 << bits - 1
    values = random.integers(-limit, limit, (rows, cols)) >> random.integers(0, bits, (rows, cols))
    extremes = random.choice([-limit, limit - 1, 0, 1, -1], (rows, cols))
    return np.where(random.integers(0, 9, (rows, cols)) == 0, extremes, values)


def bits(scale: Any) -> int:
    return int(np.float32(scale).view(np.uint32))


def floats(random: np.random.Generator, count: int, around: float) -> Array:
    """Scales: most near `around`, some of any float32 at all."""
    near = np.float32(around) * random.uniform(-2, 2, count).astype(np.float32)
    anything = random.integers(0, 1 << 32, count, np.uint32).view(np.float32)
    special = np.array([0, -0.0, 1e-45, np.inf, -np.inf, np.nan, 0.5, 3e38], np.float32)
    kinds = random.integers(0, 8, count)
    values = np.where(kinds == 0, anything, near)
    return np.where(kinds == 1, random.choice(special, count), values).astype(np.float32)


def check(got: Array, expected: list[list[int]]) -> None:
    np.testing.assert_array_equal(got, np.array(expected))


def of_elements(function: Callable[..., int], *arrays: Array) -> list[list[int]]:
    """`function` of each element."""
    pairs = zip(*(array.tolist() for array in np.broadcast_arrays(*arrays)), strict=True)
    return [[function(*one) for one in zip(*rows, strict=True)] for rows in pairs]


@pytest.mark.parametrize("kind", NARROW)
@pytest.mark.parametrize("scale", [1e-3, -2.5e-6, 0.5, 1e30])
def test_requantization_per_tensor(bench, scale, kind):
    zero_point = 37 if kind == "uint8" else 0
    x = bench.int32(bench.matrix_rows(), bench.width)

    def one(q: int) -> int:
        return reference.requantize(q, bits(scale), kind, zero_point)

    got = bench.operators.finish(x, Requantize(scale, zero_point), kind)
    check(got, of_elements(one, x))


@pytest.mark.parametrize("kind", NARROW)
@pytest.mark.parametrize("relu", [False, True])
def test_requantization_per_column(bench, kind, relu):
    zero_point = 200 if kind == "uint8" else 0
    for _ in range(4):
        x = bench.int32(bench.matrix_rows() // 4 + 1, bench.width)
        scales = floats(bench.random, bench.width, 1e-4)
        how = Requantize(1.0, zero_point, relu)
        got = bench.operators.finish(x, how, kind, scales=scales)

        def one(q: int, scale_bits: int) -> int:
            return reference.requantize(q, scale_bits, kind, zero_point, rectify=relu)

        check(got, of_elements(one, x, scales.view(np.uint32)))


def test_residual_addition(bench):
    for _ in range(4):
        rows = bench.matrix_rows() // 4 + 1
        x, stream = bench.int32(rows, bench.width), bench.int16(rows, bench.width)
        scales, scale = floats(bench.random, bench.width, 1e-3), floats(bench.random, 1, 0.7)[0]
        how = AddResidual(1.0, NOTHING, float(scale))
        got = bench.operators.finish(x, how, "int16", scales=scales, stream=stream)

        def one(x: int, x_bits: int, q: int, q_bits: int) -> int:
            return reference.residual_add(x, x_bits, q, q_bits)

        expected = of_elements(one, x, scales.view(np.uint32), stream, np.array([[bits(scale)]]))
        check(got, expected)


@pytest.mark.parametrize("function", ["gelu", "silu", "hardswish"])
@pytest.mark.parametrize("kind", NARROW)
@pytest.mark.parametrize("scale", [1.0, 3e-5])
def test_an_activation(bench, scale, kind, function):
    zero_point = 9 if kind == "uint8" else 0
    out_scale = {"int8": 3e-6, "uint8": 1.5e-6, "int16": 4e-4}[kind]
    raw_of = getattr(reference, function)
    shape = bench.matrix_rows(), bench.width
    x = bench.int32(*shape) if scale < 1 else bench.int16(*shape)

    def one(q: int) -> int:
        raw = raw_of(reference.requantize(q, bits(scale), "int16"))
        return reference.requantize(raw, bits(out_scale), kind, zero_point)

    got = bench.operators.finish(x, Activation(function, scale, out_scale, zero_point), kind)
    check(got, of_elements(one, x))


def visible(mask: Mask, row: int, keys: int) -> list[bool]:
    """Which columns of the row of a block take part."""
    limit = keys if mask.keys is None else mask.keys
    return [key < limit and (key <= row or not mask.causal) for key in range(keys)]


def scores(bench: Bench, keys: int) -> Array:
    """int32 of which rows are alike, near each other, or anything."""
    near = bench.random.integers(-9_000, 9_000, (bench.rows, keys))
    spread = bench.random.integers(0, 4, (bench.rows, 1))
    anything = bench.int32(bench.rows, keys)
    return np.where(spread == 0, anything, near >> 4 * (spread - 1)).astype(np.int64)


def score_rows(x: Array, scale: float) -> list[list[int]]:
    return of_elements(lambda q: reference.requantize(q, bits(scale), "score"), x)


def masks(blocks: Blocks, keys: int) -> list[list[bool]]:
    """Of each row; rows of a block count from its first."""
    return [visible(mask, row, keys) for rows, mask in blocks for row in range(rows)]


@pytest.mark.parametrize("kind", NARROW)
def test_normalized_softmax(bench, kind):
    keys, scale = bench.width, 0.7
    x, blocks = scores(bench, keys), bench.blocks(keys)
    got = bench.operators.softmax(x, scale, kind, blocks)
    rows = zip(score_rows(x, scale), masks(blocks, keys), strict=True)
    check(got, [reference.softmax(row, kind, mask) for row, mask in rows])


def test_deferred_softmax_and_context(bench):
    keys, width, scale, context_scale = bench.width, 5, 0.6, 2.0**-9
    x, blocks = scores(bench, keys), bench.blocks(keys)
    rows = zip(score_rows(x, scale), masks(blocks, keys), strict=True)
    numerators, totals = zip(
        *(reference.deferred_softmax(row, mask) for row, mask in rows), strict=True
    )
    values = bench.random.integers(-128, 128, (keys, width))
    products = np.array(numerators) @ values
    got, contexts = bench.operators.deferred(x, products, scale, context_scale, blocks)
    check(got, list(numerators))

    def one(product: int, total: int) -> int:
        context = reference.deferred_context(product, total)
        return reference.requantize(context, bits(context_scale), "int16")

    check(contexts, of_elements(one, products, np.array(totals)[:, np.newaxis]))


def test_layer_normalization(bench):
    width = bench.width
    x = bench.int16(bench.rows, width)
    x[::7] = bench.random.integers(-400, 400, x[::7].shape) + x[::7, :1] // 2
    x[::11] = x[::11, :1]  # All alike: beta alone.
    x = np.clip(x, -32768, 32767)
    outputs = []
    for kind, shift in (("int8", 20), ("int16", 13)):
        gamma = bench.int16(1, width)[0]
        beta = bench.random.integers(-(1 << 21), 1 << 21, width)
        outputs.append((gamma, beta, shift, kind))
    for result, (gamma, beta, shift, kind) in zip(
        bench.operators.layernorm(x, *outputs), outputs, strict=True
    ):
        affine = gamma.tolist(), beta.tolist()
        check(result, [reference.layernorm(row, *affine, shift, kind) for row in x.tolist()])
