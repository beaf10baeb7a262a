"""Which accelerators can be built, and what follows from their parameters."""

from dataclasses import FrozenInstanceError, fields

import pytest

from celosia.isa.config import AcceleratorConfig, ConfigError, did_you_mean


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("dim", 2, 64),
        ("bus_bits", 32, 512),
        ("scratchpad_kib", 1, 1 << 14),
        ("accumulator_kib", 1, 1 << 14),
        ("scratchpad_banks", 2, 16),
        ("accumulator_banks", 1, 8),
        ("parameter_rows", 8, 4096),
        ("statistics_rows", 16, 4096),
        ("loop_entries", 16, 4096),
        ("read_requests", 2, 128),
        ("write_requests", 2, 128),
        ("load_queue", 2, 32),
        ("execute_queue", 2, 32),
        ("store_queue", 2, 32),
        ("transform_queue", 2, 32),
    ],
)
def test_sizes_are_powers_of_two_within_limits_that_are_built(name, low, high):
    for value in (low, high):
        dim = 2 if value == 1 else 16  # A bank of 1 KiB holds few rows.
        config = AcceleratorConfig().with_values({"dim": dim, name: value})
        assert getattr(config, name) == value
    words = rf"is not a power of two in {low}\.\.{high}$"
    for value in (low // 2, 3 * low, high + 1, 2 * high):
        with pytest.raises(ConfigError, match=rf"^{name}: {value} {words}"):
            AcceleratorConfig(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dim", 1),
        ("dim", 3),
        ("dim", 128),
        ("bus_bits", 16),
        ("bus_bits", 1024),
        ("scratchpad_kib", 0),
        ("scratchpad_kib", 100),
        ("accumulator_kib", 1 << 15),
        ("scratchpad_banks", 1),
        ("scratchpad_banks", 3),
        ("accumulator_banks", 16),
        ("parameter_rows", 4),
        ("read_requests", 1),
        ("write_requests", 256),
        ("load_queue", 1),
        ("execute_queue", 64),
        ("store_queue", 5),
        ("dim", -16),
    ],
)
def test_a_parameter_out_of_range_is_named(name, value):
    with pytest.raises(
        ConfigError, match=rf"^{name}: {value} is not a power of two in \d+\.\.\d+$"
    ):
        AcceleratorConfig(**{name: value})


SWITCHES = [field.name for field in fields(AcceleratorConfig) if isinstance(field.default, bool)]
NUMBERS = [field.name for field in fields(AcceleratorConfig) if isinstance(field.default, int)]
NUMBERS = [name for name in NUMBERS if name not in SWITCHES]


@pytest.mark.parametrize("value", [16.0, "16", 1, None])
@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_that_is_neither_true_nor_false_is_named(name, value):
    with pytest.raises(ConfigError, match=rf"^{name}: {value!r} is neither true nor false"):
        AcceleratorConfig(**{name: value})


@pytest.mark.parametrize("value", [16.0, "16", True, None])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_parameter_that_is_no_whole_number_is_named(name, value):
    with pytest.raises(ConfigError, match=rf"^{name}: {value!r} is not a whole number"):
        AcceleratorConfig(**{name: value})


@pytest.mark.parametrize("value", ["xs", "WS", "", 1, None])
def test_a_dataflow_that_is_not_known_is_named(value):
    with pytest.raises(ConfigError, match=rf"^dataflow: {value!r} is none of ws, os, both$"):
        AcceleratorConfig(dataflow=value)


@pytest.mark.parametrize(
    ("dataflow", "weights", "sums"),
    [("ws", True, False), ("os", False, True), ("both", True, True)],
)
def test_what_a_dataflow_builds(dataflow, weights, sums):
    config = AcceleratorConfig(dataflow=dataflow)
    assert (config.weight_stationary, config.output_stationary) == (weights, sums)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"dim": 64, "scratchpad_kib": 16}, "scratchpad_kib, scratchpad_banks: a bank has 64 rows"),
        ({"vector_lanes": 3}, "^vector_lanes: 3 does not divide dim, which is 16$"),
        ({"vector_lanes": 32}, "^vector_lanes: 32 does not divide dim, which is 16$"),
        ({"vector_lanes": -4}, "^vector_lanes: -4 does not divide dim, which is 16$"),
        ({"scale_bits": 7}, "^scale_bits: 7 is not in 8..24$"),
        ({"scale_bits": 25}, "^scale_bits: 25 is not in 8..24$"),
        ({"scale_bits": 23, "bert": True}, "^scale_bits: 23 is less than 24, but bert makes"),
        ({"dim": 2, "loop_ws": True}, "loop_ws: dim is 2, but must be at least 4"),
        ({"dim": 2, "int4_pairs": True}, "^int4_pairs: dim is 2, but must be at least 4$"),
        ({"dim": 64, "accumulator_kib": 32}, "accumulator_kib, accumulator_banks: a bank has 64"),
        ({"dim": 2, "scratchpad_kib": 16384, "scratchpad_banks": 2}, "more than the 1048576"),
        ({"dim": 2, "scratchpad_kib": 8192, "scratchpad_banks": 2}, "more than the 1048576"),
    ],
)
def test_a_bank_that_is_too_small_or_too_large_is_named(values, message):
    with pytest.raises(ConfigError, match=message):
        AcceleratorConfig(**values)


@pytest.mark.parametrize(
    "values",
    [
        {"dim": 4, "int4_pairs": True},
        {"dim": 4, "loop_ws": True},
        {"scale_bits": 8},
        {"scale_bits": 24, "bert": True},
        {"vector_lanes": 16},
        {"dim": 64, "scratchpad_kib": 32},
    ],
)
def test_what_just_suffices_is_built(values):
    config = AcceleratorConfig(**values)
    assert {name: getattr(config, name) for name in values} == values


def test_an_unknown_parameter_is_named():
    with pytest.raises(
        ConfigError, match=r"^dims: no such parameter; there are accumulator_banks,"
    ):
        AcceleratorConfig().with_values({"dims": 8})


def test_a_changed_copy_is_checked_too():
    with pytest.raises(ConfigError, match="dim: 5"):
        AcceleratorConfig().with_values({"dim": 5})


def test_a_configuration_cannot_change():
    with pytest.raises(FrozenInstanceError):
        AcceleratorConfig().dim = 8  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({}, False),
        ({"normalization": True}, True),
        ({"bert": True}, False),
        ({"normalization": True, "bert": True}, False),
    ],
)
def test_rows_of_int16_are_the_normalization_units_and_not_gemminis(values, wanted):
    assert AcceleratorConfig(**values).stores_int16 is wanted


@pytest.mark.parametrize(
    ("memory", "banks", "kib"), [("scratchpad", 2, 4096), ("accumulator", 1, 8192)]
)
def test_a_bank_has_at_most_as_many_rows_as_can_be_addressed(memory, banks, kib):
    values = {"dim": 2, f"{memory}_banks": banks}
    config = AcceleratorConfig().with_values(values | {f"{memory}_kib": kib})
    assert getattr(config, f"{memory}_bank_rows") == 1 << 20
    with pytest.raises(ConfigError, match=f"^{memory}_kib, .* more than the 1048576 that"):
        AcceleratorConfig().with_values(values | {f"{memory}_kib": 2 * kib})


def test_sizes_that_follow_from_others():
    config = AcceleratorConfig(
        dim=8, scratchpad_kib=64, accumulator_kib=32, scratchpad_banks=4, accumulator_banks=2,
        bus_bits=64, scale_bits=9,
    )  # fmt: skip
    assert (config.scratchpad_row_bytes, config.accumulator_row_bytes) == (8, 32)
    assert (config.scratchpad_rows, config.scratchpad_bank_rows) == (8192, 2048)
    assert (config.accumulator_rows, config.accumulator_bank_rows) == (1024, 512)
    assert (config.bus_bytes, config.macs_per_cycle, config.zero_scale_bits) == (8, 64, 15)
    # 8 x 255 x -128 is -261,120: above -2^18.
    assert config.partial_sum_bits == 19


@pytest.mark.parametrize(("vector_lanes", "lanes", "parts"), [(0, 16, 1), (16, 16, 1), (4, 4, 4)])
def test_the_lanes_of_the_normalization_unit(vector_lanes, lanes, parts):
    config = AcceleratorConfig(vector_lanes=vector_lanes)
    assert (config.lanes, config.row_parts) == (lanes, parts)


def test_derived_values_of_the_base_configuration():
    config = AcceleratorConfig()
    assert (config.scratchpad_rows, config.scratchpad_bank_rows) == (16384, 4096)
    assert (config.accumulator_rows, config.accumulator_bank_rows) == (1024, 512)
    assert (config.max_blocks, config.max_accumulator_blocks) == (4, 1)
    assert (config.scratchpad_row_bytes, config.accumulator_row_bytes) == (16, 64)
    assert (config.bus_bytes, config.macs_per_cycle) == (16, 256)


@pytest.mark.parametrize(
    ("dim", "blocks", "accumulator_blocks"),
    [(2, 32, 8), (4, 16, 4), (8, 8, 2), (32, 2, 1), (64, 1, 1)],
)
def test_blocks_of_a_request(dim, blocks, accumulator_blocks):
    config = AcceleratorConfig(dim=dim)
    assert (config.max_blocks, config.max_accumulator_blocks) == (blocks, accumulator_blocks)


@pytest.mark.parametrize("dim", [2, 4, 8, 16, 32, 64])
def test_partial_sums_fit_their_width(dim):
    config = AcceleratorConfig(dim=dim)
    half = 1 << config.partial_sum_bits - 1
    assert -half <= dim * 255 * -128
    assert dim * 255 * 127 < half


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("verilatr", "; did you mean verilator?"),
        ("VERILATOR", "; did you mean verilator?"),
        ("Amarant", "; did you mean Amaranth?"),
        ("xyz", ""),
        ("", ""),
    ],
)
def test_the_nearest_name_is_suggested_if_one_is_near(name, said):
    assert did_you_mean(name, ["Amaranth", "verilator", "functional"]) == said
    assert did_you_mean(name, []) == ""
