"""TRANSFORMs that the functional model refuses."""

import pytest

from celosia.isa.encoding import (
    CONFIG_EXPONENT,
    CONFIG_GELU,
    CONFIG_TRANSFORM,
    TRANSFORM,
    ElementType,
    Function,
)
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.device import DeviceError
from tests.isa.execution.transform_rows import CONFIG, new_device
from tests.support.transforms import accumulator_row, scratchpad_row, transform

INT16_SCORES = {
    "function": Function.EXPONENT,
    "type": ElementType.UINT8,
    "source": scratchpad_row(64),
    "rows": {"source_stride": 4, "target_stride": 4},
}
"""Two local rows for each of four rows."""


@pytest.fixture
def device():
    return new_device()


def test_scores_of_int16_in_the_scratchpad_are_legal(device):
    device.run(transform(**({"shape": (4, 16), "target": 64 + 8} | INT16_SCORES)))


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"function": 15}, Cause.UNSUPPORTED),
        ({"function": Function.EXPONENT, "type": ElementType.INT8}, Cause.UNSUPPORTED),
        ({"function": Function.MOMENTS}, Cause.UNSUPPORTED),
        ({"function": Function.SUM, "source": scratchpad_row(64)}, Cause.UNSUPPORTED),
        ({**INT16_SCORES, "scale": 0.0}, Cause.SCALE),
        ({**INT16_SCORES, "column_scale": 1}, Cause.SCALE),
        ({**INT16_SCORES, "target": accumulator_row(0)}, Cause.UNSUPPORTED),
        ({**INT16_SCORES, "target": 64 + 7}, Cause.OVERLAP),
        ({**INT16_SCORES, "source": scratchpad_row(CONFIG.scratchpad_rows - 7)}, Cause.LOCAL_RANGE),
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
