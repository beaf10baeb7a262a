"""TRANSFORM on the functional model, against the vectors and the definitions of whole rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from celosia.isa.encoding import (
    CONFIG_EXPONENT,
    CONFIG_GELU,
    CONFIG_TRANSFORM,
    TRANSFORM,
    ElementType,
    Function,
)
from celosia.isa.numerics import (
    Affine,
    deferred_softmax,
    layernorm,
    padding_mask,
    requantize_to,
    rmsnorm,
    softmax,
)
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.device import DeviceError
from tests.support import integer_reference as reference
from tests.support.transforms import (
    accumulator_row,
    blocks_of,
    put_blocks,
    scratchpad_row,
    transform,
)

VECTORS = Path(__file__).parents[2] / "vectors"
CONFIG = PRESETS["base"].with_values({
    "normalization": True,
    "accumulator_kib": 256,
    "parameter_rows": 1024,
})
SOURCE, TARGET, TARGET2, STAGED = 64, 300, 8000, 12000
SOFTMAX = ("softmax_3x77", "softmax_4x512", "softmax_8x384", "softmax_16x128")
LAYERNORM = ("layernorm_3x80", "layernorm_4x1024", "layernorm_8x768", "layernorm_16x384")


def vectors(name: str) -> dict[str, np.ndarray[Any, Any]]:
    with np.load(VECTORS / f"{name}.npz") as arrays:
        return dict(arrays)


@pytest.fixture
def device() -> FunctionalDevice:
    return FunctionalDevice(CONFIG, memory_bytes=1 << 16)


class Rows:
    """A matrix of int32 in the accumulator, and what TRANSFORMs of it write."""

    def __init__(self, device: FunctionalDevice, x: np.ndarray[Any, Any]):
        self.device, self.x = device, x
        put_blocks(device.machine.accumulator, SOURCE, len(x), x.astype(np.int32))

    def run(self, function: Function, *, first: int = 0, last: int | None = None, **settings: Any):
        """Transform columns `first` to `last`, a multiple of dim."""
        columns = (self.x.shape[1] if last is None else last) - first
        strides = {"source_stride": len(self.x), "target_stride": len(self.x)}
        self.device.run(
            transform(
                function,
                shape=(len(self.x), columns),
                source=accumulator_row(SOURCE + first // CONFIG.dim * len(self.x)),
                target=scratchpad_row(TARGET),
                rows=strides | settings.pop("rows", {}),
                **settings,
            )
        )

    def result(self, kind: Any, columns: int | None = None) -> np.ndarray[Any, Any]:
        shape = (len(self.x), columns or self.x.shape[1])
        return blocks_of(self.device.machine.scratchpad, TARGET, len(self.x), shape, kind)


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


@pytest.mark.parametrize("rms", [0, 1])
def test_a_normalization_with_an_epsilon(device, rms):
    """The sums are complete where the epsilon counts; LAYERNORM itself does not look at it."""
    q = np.random.default_rng(rms).integers(-300, 900, (3, 16)).astype(np.int16)
    machine, (height, width) = device.machine, q.shape
    machine.parameters[8:12] = np.array([[1 << 12], [7], [1 << 12], [7]])
    put_blocks(machine.scratchpad, TARGET, height, q)
    common: dict[str, Any] = {
        "shape": (height, width),
        "source": scratchpad_row(TARGET),
        "target": scratchpad_row(TARGET2),
        "rows": {"source_stride": height, "target_stride": height},
    }
    norm = {"shift": 12, "parameter_row": 8, "channels": width}
    counts = norm | {"epsilon": 1 << 22, "rms": rms}
    device.run(transform(Function.MOMENTS, start=1, finish=1, norm=counts, **common))
    device.run(transform(Function.LAYERNORM, type=ElementType.INT16, norm=norm, **common))
    got = blocks_of(machine.scratchpad, TARGET2, height, (height, width), np.int16)
    output = Affine(np.full(width, 1 << 12), np.full(width, 7), 12, np.int16)
    assert got.tolist() == (rmsnorm if rms else layernorm)(q, output, epsilon=1 << 22).tolist()


@pytest.mark.parametrize("name", ["", "term_saturates_"])
def test_residual_of_the_vectors(device, name):
    v = vectors("residual")
    put_blocks(device.machine.scratchpad, STAGED, 16, v["x"])
    rows = Rows(device, v["acc"])
    rows.run(
        Function.RESIDUAL,
        type=ElementType.INT16,
        scale=float(v[f"{name}s_acc"]),
        scale2=float(v["s_x"]),
        rows={"residual": scratchpad_row(STAGED), "residual_stride": 16},
    )
    assert (rows.result(np.int16) == v[f"{name}s16"]).all()


@pytest.mark.parametrize("counted", [0, 1])
def test_a_residual_in_pieces_counts_moments_if_it_is_told(device, counted):
    random, statistics = np.random.default_rng(4), device.machine.statistics
    rows = Rows(device, random.integers(-(2**24), 2**24, (5, 48)))
    put_blocks(device.machine.scratchpad, STAGED, 5, random.integers(-99, 99, (5, 48), np.int16))
    before, parts = statistics.total[:5].tolist(), []
    for first in (0, 16, 32):
        rows.run(
            Function.RESIDUAL,
            first=first,
            last=first + 16,
            type=ElementType.INT16,
            scale=1e-3,
            moments=counted,
            start=int(first == 0),
            finish=int(first == 32),
            norm={"channels": 48},
            rows={"residual": scratchpad_row(STAGED + first * 2 // 16 * 5), "residual_stride": 5},
        )
        parts.append(rows.result(np.int16, 16).astype(int))
    sums = np.hstack(parts)
    assert (statistics.total[:5] == (sums.sum(axis=1) if counted else before)).all()
    if counted:
        assert (statistics.squares[:5] == (sums**2).sum(axis=1)).all()
        assert (np.abs(statistics.mean[:5] - sums.mean(axis=1)) <= 0.5).all()


@pytest.mark.parametrize("name", LAYERNORM)
def test_layernorm_with_two_results_of_the_vectors(device, name):
    v = vectors(name)
    height, width = v["q"].shape
    half = CONFIG.dim // 2
    packed = np.zeros((-(-width // half), 2, 2, half), np.int32)
    for kind, key in enumerate(("gamma", "beta")):
        for result, bits in enumerate(("8", "16")):
            packed[:, kind, result].reshape(-1)[:width] = 0
            flat = np.zeros(packed[:, kind, result].size, np.int32)
            flat[:width] = v[key + bits]
            packed[:, kind, result] = flat.reshape(-1, half)
    machine = device.machine
    machine.parameters[8 : 8 + 2 * len(packed)] = packed.reshape(-1, CONFIG.dim)
    put_blocks(machine.scratchpad, TARGET, height, v["q"])
    common = {
        "shape": (height, width),
        "source": scratchpad_row(TARGET),
        "target": scratchpad_row(TARGET2),
        "target2": scratchpad_row(STAGED),
        "rows": {"source_stride": height, "target_stride": height},
        "norm": {
            "two": 1,
            "type2": ElementType.INT16,
            "shift": int(v["e8"]),
            "shift2": int(v["e16"]),
            "target2_stride": height,
            "parameter_row": 8,
            "channels": width,
        },
    }
    device.run(transform(Function.MOMENTS, start=1, finish=1, **common))
    device.run(transform(Function.LAYERNORM, type=ElementType.INT8, **common))
    small = blocks_of(machine.scratchpad, TARGET2, height, (height, width), np.int8)
    wide = blocks_of(machine.scratchpad, STAGED, height, (height, width), np.int16)
    assert (small == v["s8"]).all()
    assert (wide == v["s16"]).all()


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


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"function": 15}, Cause.UNSUPPORTED),
        ({"function": Function.EXPONENT, "type": ElementType.INT8}, Cause.UNSUPPORTED),
        ({"function": Function.MOMENTS}, Cause.UNSUPPORTED),
        ({"function": Function.SUM, "scale": float("nan")}, Cause.SCALE),
        ({"function": Function.SUM, "scale": -1.0}, Cause.SCALE),
        ({"function": Function.SUM, "column_scale": 1}, Cause.SCALE),
        ({"function": Function.REQUANTIZE, "shape": (1, 4097)}, Cause.SHAPE),
        ({"function": Function.REQUANTIZE, "shape": (5000, 16)}, Cause.LOCAL_RANGE),
        ({"function": Function.SUM, "statistics": 255, "shape": (2, 16)}, Cause.LOCAL_RANGE),
        ({"function": Function.GELU, "target": accumulator_row(0)}, Cause.UNSUPPORTED),
        (
            {
                "function": Function.RESIDUAL,
                "type": ElementType.INT16,
                "rows": {"residual": scratchpad_row(1), "residual_stride": 4},
            },
            Cause.OVERLAP,
        ),
        (
            {
                "function": Function.LAYERNORM,
                "source": scratchpad_row(64),
                "rows": {"source_stride": 4, "target_stride": 4},
                "target2": scratchpad_row(3),
                "norm": {"two": 1, "target2_stride": 4},
            },
            Cause.OVERLAP,
        ),
    ],
)
def test_a_broken_rule_is_an_error(device, settings, cause):
    wanted = {"shape": (4, 16), "source": accumulator_row(0), "target": 0} | settings
    with pytest.raises(DeviceError) as caught:
        device.run(transform(**wanted))
    assert caught.value.cause is cause


def test_without_the_unit_there_is_no_such_instruction():
    device = FunctionalDevice(PRESETS["small"], memory_bytes=1 << 16)
    with pytest.raises(DeviceError) as caught:
        device.run(transform(Function.GELU, shape=(1, 1), source=accumulator_row(0)))
    assert caught.value.cause is Cause.UNKNOWN_FUNCT


@pytest.mark.parametrize(
    ("configuration", "function", "what"),
    [
        (CONFIG_EXPONENT.encode(inverse_ln2=32767, lowest=65535), Function.SUM, "quotient: "),
        (CONFIG_EXPONENT.encode(b=65535), Function.EXPONENT, "polynomial: "),
        (CONFIG_EXPONENT.encode(c=0), Function.PROBABILITY, "polynomial: "),
        (CONFIG_EXPONENT.encode(shift=0), Function.SUM, "exponent: exp"),
        (CONFIG_EXPONENT.encode(c=0), Function.SILU, "polynomial: "),
        (CONFIG_GELU.encode(b=32767), Function.GELU, "gelu: c: "),
        (CONFIG_GELU.encode(shift=0), Function.GELU, "gelu: 2 . c >> shift: "),
    ],
)
def test_constants_without_a_defined_result(device, configuration, function, what):
    """They do no harm where they are not used."""
    walk = TRANSFORM.encode(local=accumulator_row(0), local_rows=1, local_cols=1)
    device.run([configuration, CONFIG_TRANSFORM.encode(function=Function.MAXIMUM), walk])
    with pytest.raises(ValueError, match=what):
        device.run([CONFIG_TRANSFORM.encode(function=function, type=1), walk])
