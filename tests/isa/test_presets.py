"""Presets, configuration files and overrides, and what is said about wrong ones."""

import pytest

from celosia.isa.config import AcceleratorConfig, ConfigError
from celosia.isa.presets import PRESETS, parse_override, resolve_config


@pytest.mark.parametrize(
    ("name", "dim", "scratchpad", "accumulator", "bus"),
    [
        ("tiny", 4, 16, 8, 32),
        ("small", 8, 64, 32, 64),
        ("base", 16, 256, 64, 128),
        ("rebalanced", 16, 64, 256, 128),
    ],
)
def test_the_presets_are_the_promised_ones(name, dim, scratchpad, accumulator, bus):
    config = PRESETS[name]
    assert config.dim == dim
    assert (config.scratchpad_kib, config.accumulator_kib) == (scratchpad, accumulator)
    assert (config.scratchpad_banks, config.accumulator_banks) == (4, 2)
    assert (config.read_requests, config.write_requests) == (32, 32)
    assert config.normalization is (name != "small")
    if dim == 16:
        assert config.bus_bits == 128
    assert config.bus_bits == bus


def test_base_is_the_default():
    assert resolve_config() == PRESETS["base"]
    assert PRESETS["base"] == AcceleratorConfig(
        normalization=True, vector_lanes=8, transform_queue=4
    )


def test_only_one_preset_takes_int4_weights_in_pairs_and_it_is_base_otherwise():
    assert [name for name, config in PRESETS.items() if config.int4_pairs] == ["base-int4"]
    assert PRESETS["base-int4"].with_values({"int4_pairs": False}) == PRESETS["base"]


@pytest.mark.parametrize(
    ("name", "dim", "scratchpad", "accumulator"), [("gemmini", 16, 256, 64), ("gemmini4", 4, 16, 8)]
)
def test_presets_for_programs_of_gemmini(name, dim, scratchpad, accumulator):
    config = PRESETS[name]
    assert (config.dim, config.scratchpad_kib, config.accumulator_kib) == (
        dim,
        scratchpad,
        accumulator,
    )
    assert (config.dataflow, config.convolution) == ("both", True)
    assert not any(PRESETS[other].convolution for other in ("tiny", "small", "base", "rebalanced"))


def test_overrides_apply_in_order():
    config = resolve_config("tiny", ["dim=8", "read_requests=0x10", "dim=2"])
    assert config == PRESETS["tiny"].with_values({"dim": 2, "read_requests": 16})


@pytest.mark.parametrize(
    ("overrides", "lanes"),
    [
        (["dim=4"], 0),
        (["dim=8"], 8),
        (["dim=32"], 8),
        (["dim=4", "vector_lanes=2"], 2),
        (["vector_lanes=4"], 4),
        ([], 8),
    ],
)
def test_an_array_smaller_than_the_lanes_has_one_for_each_column(overrides, lanes):
    assert PRESETS["base"].vector_lanes == 8
    assert resolve_config("base", overrides).vector_lanes == lanes


def test_a_file_starts_from_its_preset(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('preset = "tiny"\nscratchpad_kib = 32\n')
    want = PRESETS["tiny"].with_values({"scratchpad_kib": 32, "store_queue": 4})
    assert resolve_config(str(path), ["store_queue=4"]) == want


def test_a_file_without_a_preset_starts_from_base(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("dim = 8\n")
    assert resolve_config(str(path)) == PRESETS["base"].with_values({"dim": 8})


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"dim = ", "mine.toml: not TOML: "),
        (b"\xff\xfe", "mine.toml: not a text file: "),
        (b"dim = 5", "mine.toml: dim: 5 is not a power of two"),
        (b"dims = 8", "mine.toml: dims: no such parameter"),
        (b"dim = 8.0", "mine.toml: dim: 8.0 is not a whole number"),
        (b'preset = "huge"', "mine.toml: preset: there is no preset 'huge'"),
        (b"preset = 1", "mine.toml: preset: there is no preset 1"),
        (b"[dim]\nx = 1", "mine.toml: dim: {'x': 1} is not a whole number"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, contents, message):
    path = tmp_path / "mine.toml"
    path.write_bytes(contents)
    with pytest.raises(ConfigError) as caught:
        resolve_config(str(path))
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.toml: No such file"):
        resolve_config(str(tmp_path / "none.toml"))


def test_an_unknown_preset_is_named():
    with pytest.raises(
        ConfigError, match="preset: there is no preset 'huge'; there are tiny, small"
    ):
        resolve_config("huge")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dim", "override 'dim': write it as key=value"),
        ("=8", "override '=8': write it as key=value"),
        ("dataflow=ss", "dataflow: 'ss' is none of ws, os, both"),
        ("normalization=2", "normalization: 2 is neither true nor false"),
        ("normalization=yes", "normalization: 'yes' is neither true nor false"),
        ("dim=os", "dim: 'os' is not a whole number"),
        ("dim=eight", "dim: 'eight' is not a whole number"),
        ("dim=", "dim: '' is not a whole number"),
        ("dim=8.5", "dim: '8.5' is not a whole number"),
    ],
)
def test_a_wrong_override_is_named(text, message):
    with pytest.raises(ConfigError) as caught:
        resolve_config("base", [text])
    assert message in str(caught.value)


def test_a_dataflow_can_be_overridden():
    assert resolve_config("base", ["dataflow=Both"]).dataflow == "both"


@pytest.mark.parametrize("text", ["dim=8", " dim = 8 ", "dim=0x8", "dim=0b1000"])
def test_ways_to_write_an_override(text):
    assert parse_override(text) == ("dim", 8)
