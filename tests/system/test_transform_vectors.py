"""The given arrays, bit for bit, through command words, on all simulators.

What no instruction exposes (roots, the polynomial of GELU before its scale) is compared at the
ports of the units that compute it, in tests/hw/vector.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
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

VECTORS = Path(__file__).parents[1] / "vectors"
SOFTMAX = ("3x77", "16x128", "8x384", "4x512")
LAYERNORM = ("3x80", "16x384", "8x768", "4x1024")
KINDS = {"u8": "uint8", "s8": "int8", "s16": "int16"}
CONFIGS = {
    "functional": configured("base"),
    "verilator": configured("base"),
    "amaranth": configured("tiny"),
}
NOTHING = View("", 0, 0, 1, 1)


def vectors(name: str) -> dict[str, NDArray[Any]]:
    with np.load(VECTORS / f"{name}.npz") as arrays:
        return dict(arrays)


@pytest.fixture(
    scope="module",
    params=[
        "functional",
        pytest.param("verilator", marks=pytest.mark.slow),
        pytest.param("amaranth", marks=pytest.mark.nightly),
    ],
)
def operators(request) -> Iterator[Operators]:
    name = request.param
    device = open_device(name, CONFIGS[name], MemoryTiming(latency=10), 1 << 20)
    with closing(device):
        yield Operators(device)


def blocks(mask: NDArray[np.bool_]) -> Blocks:
    """A block for each row: each has a number of keys of its own."""
    return [(1, Mask(keys=int(keys))) for keys in mask.sum(axis=1)]


def same(got: NDArray[Any], expected: NDArray[Any]) -> None:
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def test_every_file_is_looked_at():
    names = {path.stem.split("_")[0] for path in VECTORS.glob("*.npz")}
    assert names == {"softmax", "layernorm", "gelu", "isqrt", "requant", "residual"}


def test_requantization(operators):
    data = vectors("requant")
    acc, scale, ties = data["acc"], data["scale"], data["tie_acc"].reshape(1, -1)
    for name, kind, zero_point, scales in (
        ("s8", "int8", 0, scale),
        ("s16", "int16", 0, scale),
        ("u8_zp17", "uint8", 17, scale),
        ("negative_s8", "int8", 0, -scale),
    ):
        how = Requantize(1.0, zero_point)
        same(operators.finish(acc, how, kind, scales=scales), data[name])
    same(operators.finish(acc, Requantize(float(scale[0])), "int8"), data["tensor_s8"])
    same(operators.finish(ties, Requantize(0.5), "int8")[0], data["tie_half_s8"].reshape(-1))


@pytest.mark.parametrize("size", SOFTMAX)
def test_normalized_softmax(operators, size):
    data = vectors(f"softmax_{size}")
    for name, kind in KINDS.items():
        same(operators.softmax(data["q"], 1.0, kind, blocks(data["mask"])), data[name])


@pytest.mark.parametrize("size", SOFTMAX)
def test_deferred_softmax_and_context(operators, size):
    data, scale = vectors(f"softmax_{size}"), np.float32(3e-4)
    bits = int(scale.view(np.uint32))
    for name, rows in (
        ("deferred", [(1, Mask())] * len(data["q"])),
        ("deferred_masked", blocks(data["mask"])),
    ):
        products = data[f"{name}_p"].astype(np.int64) @ data["v"].astype(np.int64)
        numerators, contexts = operators.deferred(data["q"], products, 1.0, float(scale), rows)
        same(numerators, data[f"{name}_p"])
        expected = [
            [reference.requantize(x, bits, "int16") for x in row]
            for row in data[f"{name}_c"].tolist()
        ]
        np.testing.assert_array_equal(contexts, expected)


@pytest.mark.parametrize("size", SOFTMAX)
def test_sums_of_numerators(operators, size):
    """What is left of a known product tells the reciprocal of its row's sum, bit by bit."""
    data = vectors(f"softmax_{size}")
    for name, rows in (
        ("deferred", [(1, Mask())] * len(data["q"])),
        ("deferred_masked", blocks(data["mask"])),
    ):
        totals = data[f"{name}_sum"].reshape(-1).tolist()
        for product, exponent in ((1 << 16, -9), (-(1 << 31), -16)):
            products, scale = np.full((len(totals), 1), product), 2.0**exponent
            _, contexts = operators.deferred(data["q"], products, 1.0, scale, rows)
            exact = [reference.deferred_context(product, total) for total in totals]
            wrapped = [(x + 2**31) % 2**32 - 2**31 for x in exact]
            bits = int(np.float32(scale).view(np.uint32))
            expected = [[reference.requantize(x, bits, "int16")] for x in wrapped]
            np.testing.assert_array_equal(contexts, expected)
            assert len(np.unique(contexts)) > len(totals) // 2


def test_gelu(operators):
    data = vectors("gelu")
    how = Activation("gelu", 1.0, float(data["scale"]), zero_point=5)
    same(operators.finish(data["q"], how, "uint8"), data["u8_zp5"])


@pytest.mark.parametrize("name", ["", "term_saturates_"])
def test_residual_addition(operators, name):
    data = vectors("residual")
    how = AddResidual(float(data[f"{name}s_acc"]), NOTHING, float(data["s_x"]))
    same(operators.finish(data["acc"], how, "int16", stream=data["x"]), data[f"{name}s16"])


@pytest.mark.parametrize("size", LAYERNORM)
def test_layer_normalization(operators, size):
    data = vectors(f"layernorm_{size}")
    outputs = [
        (data[f"gamma{n}"], data[f"beta{n}"], int(data[f"e{n}"]), f"int{n}") for n in (8, 16)
    ]
    for name, result in zip(("s8", "s16"), operators.layernorm(data["q"], *outputs), strict=True):
        same(result, data[name])
