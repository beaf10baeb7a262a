"""The given arrays, bit for bit: by the definitions, and by the reference written beside them."""

from pathlib import Path

import numpy as np
import pytest

from celosia.isa import numerics
from tests.support import integer_reference as reference

VECTORS = Path(__file__).parents[2] / "vectors"
SOFTMAX = ("3x77", "16x128", "8x384", "4x512")
LAYERNORM = ("3x80", "16x384", "8x768", "4x1024")
KINDS = {"u8": np.uint8, "s8": np.int8, "s16": np.int16}


def load(name):
    with np.load(VECTORS / f"{name}.npz") as file:
        return dict(file)


def same(got, want):
    np.testing.assert_array_equal(got, want)
    return True


def bits(scale):
    return int(np.float32(scale).view(np.uint32))


def test_no_file_is_left_out():
    tested = {"requant", "isqrt", "gelu", "residual"}
    tested |= {f"softmax_{size}" for size in SOFTMAX} | {f"layernorm_{size}" for size in LAYERNORM}
    assert {path.stem for path in VECTORS.glob("*.npz")} == tested


def test_requantization():
    data = load("requant")
    acc, scale, ties = data["acc"], data["scale"], data["tie_acc"]
    for name, got in {
        "s8": numerics.requantize_to(acc, scale, np.int8),
        "s16": numerics.requantize_to(acc, scale, np.int16),
        "u8_zp17": numerics.requantize_to(acc, scale, np.uint8, zero_point=17),
        "tensor_s8": numerics.requantize_to(acc, scale[0], np.int8),
        "negative_s8": numerics.requantize_to(acc, -scale, np.int8),
        "tie_half_s8": numerics.requantize_to(ties, 0.5, np.int8),
    }.items():
        assert got.dtype == data[name].dtype
        np.testing.assert_array_equal(got, data[name], err_msg=name)
    assert same(numerics.requantize(acc, scale), data["s8"])
    for row, want in zip(acc.tolist(), data["u8_zp17"].tolist(), strict=True):
        pairs = zip(row, scale, strict=True)
        assert [reference.requantize(x, bits(s), "uint8", 17) for x, s in pairs] == want


def test_square_roots():
    data = load("isqrt")
    assert same(numerics.isqrt(data["n"]), data["root"])


@pytest.mark.parametrize("size", SOFTMAX)
@pytest.mark.parametrize("name", KINDS)
def test_normalized_softmax(size, name):
    data = load(f"softmax_{size}")
    got = numerics.softmax(data["q"], KINDS[name], data["mask"])
    assert got.dtype == data[name].dtype
    assert same(got, data[name])
    rows = zip(data["q"].tolist(), data["mask"].tolist(), strict=True)
    assert same([reference.softmax(q, got.dtype.name, mask) for q, mask in rows], data[name])


@pytest.mark.parametrize("size", SOFTMAX)
@pytest.mark.parametrize("masked", [False, True])
def test_deferred_softmax(size, masked):
    data = load(f"softmax_{size}")
    name, mask = ("deferred_masked", data["mask"]) if masked else ("deferred", None)
    numerators, totals = numerics.deferred_softmax(data["q"], mask)
    context = numerics.deferred_context(numerics.matmul(numerators, data["v"]), totals)
    assert (numerators.dtype, totals.dtype) == (np.uint8, np.int32)
    assert same(numerators, data[f"{name}_p"])
    assert same(totals, data[f"{name}_sum"])
    assert same(context, data[f"{name}_c"])


@pytest.mark.parametrize("size", SOFTMAX)
@pytest.mark.parametrize("masked", [False, True])
def test_the_reference_of_deferred_softmax(size, masked):
    data = load(f"softmax_{size}")
    name = "deferred_masked" if masked else "deferred"
    masks = data["mask"].tolist() if masked else [None] * len(data["q"])
    rows = [
        reference.deferred_softmax(q, mask)
        for q, mask in zip(data["q"].tolist(), masks, strict=True)
    ]
    products = reference.matmul([row for row, _ in rows], data["v"].tolist())
    context = [
        [reference.deferred_context(x, total) for x in row]
        for row, (_, total) in zip(products, rows, strict=True)
    ]
    assert same([row for row, _ in rows], data[f"{name}_p"])
    assert same([total for _, total in rows], data[f"{name}_sum"])
    assert same(context, data[f"{name}_c"])


def test_gelu():
    data = load("gelu")
    assert same(numerics.raw_gelu(data["q"]), data["raw"])
    assert same(numerics.gelu(data["q"], data["scale"], np.uint8, zero_point=5), data["u8_zp5"])
    assert same([[reference.gelu(q) for q in row] for row in data["q"].tolist()], data["raw"])


@pytest.mark.parametrize("size", LAYERNORM)
def test_layer_normalization(size):
    data = load(f"layernorm_{size}")
    outputs = [
        numerics.Affine(data[f"gamma{n}"], data[f"beta{n}"], int(data[f"e{n}"]), kind)
        for n, kind in ((8, np.int8), (16, np.int16))
    ]
    got = numerics.layernorm_pair(data["q"], *outputs)
    for n, result, output in zip((8, 16), got, outputs, strict=True):
        assert result.dtype == data[f"s{n}"].dtype
        assert same(result, data[f"s{n}"])
        assert same(numerics.layernorm(data["q"], output), data[f"s{n}"])
        gamma, beta = data[f"gamma{n}"].tolist(), data[f"beta{n}"].tolist()
        by_rows = [
            reference.layernorm(row, gamma, beta, output.shift, f"int{n}")
            for row in data["q"].tolist()
        ]
        assert same(by_rows, data[f"s{n}"])


@pytest.mark.parametrize("name", ["", "term_saturates_"])
def test_residual_addition(name):
    data = load("residual")
    acc, x, scale, stream_scale = data["acc"], data["x"], data[f"{name}s_acc"], data["s_x"]
    want = data[f"{name}s16"]
    got = numerics.residual_add(acc, scale, x, stream_scale)
    assert got.dtype == want.dtype
    assert same(got, want)
    pairs = zip(acc.ravel().tolist(), x.ravel().tolist(), strict=True)
    by_elements = [reference.residual_add(a, bits(scale), q, bits(stream_scale)) for a, q in pairs]
    assert same(by_elements, want.ravel())
