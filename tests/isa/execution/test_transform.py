"""TRANSFORM on the functional model, against the vectors and the definitions of whole rows."""

import numpy as np
import pytest

from celosia.isa.encoding import ElementType, Function
from celosia.isa.numerics import deferred_softmax, padding_mask, requantize_to, softmax
from tests.isa.execution.transform_rows import (
    CONFIG,
    STAGED,
    TARGET,
    TARGET2,
    Rows,
    new_device,
    vectors,
)
from tests.support import integer_reference as reference
from tests.support.transforms import blocks_of, put_blocks, scratchpad_row, transform

SOFTMAX = ("softmax_3x77", "softmax_4x512", "softmax_8x384", "softmax_16x128")


@pytest.fixture
def device():
    return new_device()


@pytest.mark.parametrize("name", SOFTMAX)
def test_softmax_of_the_vectors(device, name):
    v = vectors(name)
    for row, keys in enumerate(v["mask"].sum(axis=1)):
        rows, mask = Rows(device, v["q"][row : row + 1]), {"keys": int(keys)}
        rows.run(Function.MAXIMUM, start=1, mask=mask)
        rows.run(Function.SUM, start=1, finish=1, mask=mask)
        for key, kind, element in (
            ("u8", np.uint8, ElementType.UINT8),
            ("s8", np.int8, ElementType.INT8),
            ("s16", np.int16, ElementType.INT16),
        ):
            rows.run(Function.PROBABILITY, type=element, mask=mask)
            assert (rows.result(kind) == v[key][row]).all()


@pytest.mark.parametrize("name", SOFTMAX)
def test_deferred_softmax_and_context_of_the_vectors(device, name):
    v = vectors(name)
    rows = Rows(device, v["q"])
    rows.run(Function.MAXIMUM, start=1)
    rows.run(Function.EXPONENT, type=ElementType.UINT8, start=1, finish=1)
    assert (rows.result(np.uint8) == v["deferred_p"]).all()
    assert (device.machine.statistics.total[: len(v["q"])] == v["deferred_sum"]).all()

    product = v["deferred_p"].astype(np.int64) @ v["v"].astype(np.int64)
    scale = np.float32(3e-4)
    after = Rows(device, product)
    after.run(Function.CONTEXT, type=ElementType.INT16, scale=float(scale))
    assert (after.result(np.int16) == requantize_to(v["deferred_c"], scale, np.int16)).all()


@pytest.mark.parametrize("name", SOFTMAX)
def test_masked_softmax_of_the_vectors(device, name):
    v = vectors(name)
    for row, keys in enumerate(v["mask"].sum(axis=1)):
        rows, mask = Rows(device, v["q"][row : row + 1]), {"keys": int(keys)}
        rows.run(Function.MAXIMUM, start=1, mask=mask)
        rows.run(Function.EXPONENT, type=ElementType.UINT8, start=1, finish=1, mask=mask)
        assert (rows.result(np.uint8) == v["deferred_masked_p"][row]).all()


def test_a_causal_softmax_in_pieces_of_columns(device):
    x = np.random.default_rng(1).integers(-40_000, 40_000, (8, 96))
    scale, first_row = np.float32(0.11), 40
    rows = Rows(device, x)
    pieces = ((0, 48), (48, 96))
    for function, extra in (
        (Function.MAXIMUM, {}),
        (Function.EXPONENT, {"type": ElementType.UINT8}),
    ):
        for first, last in pieces:
            rows.run(
                function,
                first=first,
                last=last,
                scale=float(scale),
                start=int(first == 0),
                finish=int(last == 96),
                mask={"causal": 1, "first_key": first, "first_row": first_row, "keys": 70},
                **extra,
            )
    seen = (np.arange(96) <= np.arange(8)[:, None] + first_row) & padding_mask(70, 96)
    expected, totals = deferred_softmax(requantize_to(x, scale, np.int16), seen)
    assert (rows.result(np.uint8, 48) == expected[:, 48:]).all()
    assert (device.machine.statistics.total[:8] == totals).all()


@pytest.mark.parametrize(("first_row", "ring"), [(40, 0), (40, 96), (10, 96), (30, 90)])
def test_a_window_of_keys_in_pieces_of_columns(device, first_row, ring):
    x = np.random.default_rng(1).integers(-40_000, 40_000, (8, 96))
    scale, window = np.float32(0.11), 35
    rows = Rows(device, x)
    for function, extra in (
        (Function.MAXIMUM, {}),
        (Function.EXPONENT, {"type": ElementType.UINT8}),
    ):
        for first, last in ((0, 48), (48, 96)):
            rows.run(
                function,
                first=first,
                last=last,
                scale=float(scale),
                start=int(first == 0),
                finish=int(last == 96),
                mask={"causal": 1, "first_key": first, "first_row": first_row}
                | {"window": window, "ring": ring},
                **extra,
            )
    own = np.arange(8)[:, None] + first_row
    behind = own - np.arange(96)
    seen = (behind >= 0) & (behind < window)
    if ring:
        seen |= behind < window - ring
    expected, totals = deferred_softmax(requantize_to(x, scale, np.int16), seen)
    assert (rows.result(np.uint8, 48) == expected[:, 48:]).all()
    assert (device.machine.statistics.total[:8] == totals).all()


@pytest.mark.parametrize("name", SOFTMAX)
@pytest.mark.parametrize("bias", [0, 1])
def test_numerators_of_scores_that_are_int16_already(device, name, bias):
    """As of the sums that they were scaled from: only the maximum is scaled, and no bias added."""
    x = vectors(name)["q"].astype(np.int64) * 37
    scale, stride = np.float32(0.021), len(x) + 1
    q = requantize_to(x, scale, np.int16)
    rows = Rows(device, x)
    rows.run(Function.MAXIMUM, start=1)
    put_blocks(device.machine.scratchpad, STAGED, stride, q)
    device.run(
        transform(
            Function.EXPONENT,
            shape=x.shape,
            source=scratchpad_row(STAGED),
            target=scratchpad_row(TARGET),
            rows={"source_stride": stride, "target_stride": len(x), "bias_row": 3},
            scale=float(scale),
            type=ElementType.UINT8,
            start=1,
            finish=1,
            bias=bias,
        )
    )
    expected, totals = deferred_softmax(q)
    assert (rows.result(np.uint8) == expected).all()
    assert (device.machine.statistics.total[: len(x)] == totals).all()


def test_gelu_of_the_vectors(device):
    v = vectors("gelu")
    rows = Rows(device, v["q"])
    settings = {"scale2": float(v["scale"]), "zero_point": 5, "type": ElementType.UINT8}
    rows.run(Function.GELU, **settings)
    assert (rows.result(np.uint8) == v["u8_zp5"]).all()


@pytest.mark.parametrize("kind", [ElementType.INT8, ElementType.UINT8, ElementType.INT16])
def test_a_product_of_two_rows(device, kind):
    """Columns scales, biases and ReLU are not for it."""
    random, machine = np.random.default_rng(kind), device.machine
    a, b = random.integers(-(1 << 15), 1 << 15, (2, 3, 21)).astype(np.int16)
    put_blocks(machine.scratchpad, TARGET, 3, a)
    put_blocks(machine.scratchpad, STAGED, 4, b)
    device.run(
        transform(
            Function.MULTIPLY,
            shape=a.shape,
            source=scratchpad_row(TARGET),
            target=scratchpad_row(TARGET2),
            rows={
                "source_stride": 3,
                "target_stride": 3,
                "residual": scratchpad_row(STAGED),
                "residual_stride": 4,
            },
            type=kind,
            scale2=2.0**-22,
            zero_point=9,
            scale=7.0,
            bias=1,
            relu=1,
            column_scale=1,
        )
    )
    dtype = np.dtype(kind.name.lower())
    got = blocks_of(machine.scratchpad, TARGET2, 3, a.shape, dtype)
    bits = int(np.float32(2.0**-22).view(np.uint32))
    zero_point = 9 if kind is ElementType.UINT8 else 0
    assert got.tolist() == [
        [reference.multiply(x, y, bits, dtype.name, zero_point) for x, y in zip(*pair, strict=True)]
        for pair in zip(a.tolist(), b.tolist(), strict=True)
    ]


def test_halves_of_rows_are_rotated(device):
    random, machine = np.random.default_rng(7), device.machine
    x, table = random.integers(-(1 << 15), 1 << 15, (2, 3, 2 * CONFIG.dim)).astype(np.int16)
    put_blocks(machine.scratchpad, TARGET, 3, x)
    put_blocks(machine.scratchpad, STAGED, 4, table)
    command = {
        "shape": x.shape,
        "source": scratchpad_row(TARGET),
        "target": scratchpad_row(TARGET2),
        "rows": {
            "source_stride": 3,
            "target_stride": 3,
            "residual": scratchpad_row(STAGED),
            "residual_stride": 4,
        },
    }
    device.run(transform(Function.ROTATE, **command, type=ElementType.INT16, scale2=0.75))
    got = blocks_of(machine.scratchpad, TARGET2, 3, x.shape, np.dtype(np.int16))
    bits = int(np.float32(0.75).view(np.uint32))
    pairs = zip(x.tolist(), table.tolist(), strict=True)
    assert got.tolist() == [reference.rotate(*pair, bits, "int16") for pair in pairs]


@pytest.mark.parametrize(
    ("key", "kind", "element", "zero_point"),
    [
        ("s8", np.int8, ElementType.INT8, 0),
        ("s16", np.int16, ElementType.INT16, 0),
        ("u8_zp17", np.uint8, ElementType.UINT8, 17),
    ],
)
def test_requantization_per_column_of_the_vectors(device, key, kind, element, zero_point):
    v = vectors("requant")
    device.machine.parameters[5:8] = v["scale"].view(np.int32).reshape(3, 16)
    rows = Rows(device, v["acc"])
    rows.run(
        Function.REQUANTIZE,
        type=element,
        column_scale=1,
        zero_point=zero_point,
        rows={"scale_row": 5},
    )
    assert (rows.result(kind) == v[key]).all()


def test_int32_with_a_bias_that_wraps(device):
    x = np.full((2, 20), 2**31 - 1, np.int64)
    device.machine.parameters[9:11] = np.arange(32).reshape(2, 16)
    rows = Rows(device, x)
    rows.run(Function.REQUANTIZE, type=ElementType.INT32, bias=1, rows={"bias_row": 9})
    expected = (x + np.arange(20) + 2**31) % 2**32 - 2**31
    assert (rows.result(np.int32) == expected).all()


def test_softmax_of_scores_with_a_scale(device):
    x = np.random.default_rng(3).integers(-(2**24), 2**24, (5, 33))
    scale = np.float32(1e-3)
    rows = Rows(device, x)
    rows.run(Function.MAXIMUM, start=1, scale=float(scale))
    rows.run(Function.SUM, start=1, finish=1, scale=float(scale))
    rows.run(Function.PROBABILITY, type=ElementType.UINT8, scale=float(scale))
    assert (rows.result(np.uint8) == softmax(requantize_to(x, scale, np.int16))).all()
