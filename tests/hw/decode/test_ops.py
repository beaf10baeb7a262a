"""What operations carry: all that their fields may be, and no bit more."""

from typing import Any

import pytest
from amaranth.hdl import Shape

from celosia.hw.decode.ops import ExecuteOp, LoadOp, ResultOp, StoreOp, local_row_bits
from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import PRESETS

CONFIGS = [
    PRESETS["tiny"],
    PRESETS["base"],
    AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1),
    AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=8),
]


def limits(config: AcceleratorConfig) -> dict[Any, dict[str, int]]:
    """The largest numbers of fields whose width depends on `config`."""
    memories = config.scratchpad_rows, config.accumulator_rows, config.parameter_rows
    row = max(memories) - 1
    extents = ("w_rows", "w_cols", "a_cols", "d_cols", "c_cols")
    product = {f"{operand}_row": row for operand in "wadc"}
    product.update(dict.fromkeys(extents, config.dim))
    return {
        LoadOp: {"row": row},
        StoreOp: {"row": row, "bias_row": config.parameter_rows - 1},
        ExecuteOp: product,
        ResultOp: {"row": row, "mask": (1 << config.dim) - 1},
    }


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"dim{c.dim}-acc{c.accumulator_kib}")
def test_fields_are_as_wide_as_their_largest_number(config):
    for op, fields in limits(config).items():
        members = op(config).members
        for name, largest in fields.items():
            assert Shape.cast(members[name]).width == largest.bit_length(), (op, name)
    assert local_row_bits(config) == limits(config)[LoadOp]["row"].bit_length()


FLAGS = {
    LoadOp: {"zero", "accumulate", "shrunk", "wait"},
    StoreOp: {"full", "int16", "relu", "bias", "signal"},
    ExecuteOp: {
        *("load_weights", "w_zero", "w_transpose", "a_zero", "a_transpose", "a_unsigned"),
        *("w_int4", "d_valid", "c_accumulator", "accumulate", "relu"),
    },
    ResultOp: {"to_accumulator", "accumulate", "relu", "add_d"},
}


@pytest.mark.parametrize("op", FLAGS, ids=lambda op: op.__name__)
def test_flags_are_bits(op):
    members: dict[str, Any] = op(CONFIGS[2]).members
    assert {name for name, shape in members.items() if Shape.cast(shape).width == 1} == FLAGS[op]
