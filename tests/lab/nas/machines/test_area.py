"""Predicted areas: fits of designs whose sizes are known, and documents that are none."""

import json
from pathlib import Path

import pytest

from celosia.isa.presets import PRESETS, resolve_config
from celosia.lab.nas.machines.area import AreaModel, MeasuredDesign, read_designs, shipped_designs
from celosia.sim.support.problems import InputError

DESIGNS = shipped_designs()
MODEL = AreaModel(DESIGNS)


def made(cells, lanes, **values):
    """A design whose mesh and polynomials have so many kGE for each cell and lane; rest is 1."""
    config = PRESETS["base"].with_values(values)
    units = dict.fromkeys(DESIGNS[0].kge, 1.0)
    units["mesh"] = cells * config.dim**2
    units["lanes: polynomial"] = lanes * config.lanes
    return MeasuredDesign(config, units)


def test_units_grow_with_what_they_are_built_from():
    model = AreaModel([made(1.5, 20, dim=8), made(1.5, 20), made(1.5, 20, dim=32)])
    machine = resolve_config("base", ("dim=64", "vector_lanes=16"))
    assert model.unit("mesh", machine) == pytest.approx(1.5 * 4096)
    assert model.unit("lanes: polynomial", machine) == pytest.approx(320)
    assert model.unit("decoder", machine) == pytest.approx(1)


def test_sizes_that_no_measured_design_reaches_are_named():
    model = AreaModel([made(1, 1, dim=8, vector_lanes=4), made(1, 1, vector_lanes=8)])
    base, within = PRESETS["base"], {"scratchpad_kib": 512, "vector_lanes": 4}
    assert model.beyond([base, base.with_values(within)]) == []
    sizes = [{"dim": 32, "vector_lanes": 2}, {"dim": 4, "vector_lanes": 4, "bus_bits": 256}]
    beyond = model.beyond([base.with_values(each) for each in sizes])
    assert beyond == ["dim 4", "dim 32", "vector_lanes 2", "bus_bits 256"]


def test_bits_of_memories_are_counted_and_not_fitted():
    """1.5 gate equivalents for each bit of a KiB more."""
    base = PRESETS["base"]
    larger = base.with_values({"scratchpad_kib": 512})
    assert MODEL.kge(larger) - MODEL.kge(base) == pytest.approx(256 * 1024 * 8 * 1.5 / 1000)


def test_shipped_designs_are_predicted():
    """`base` has 5,657 kGE (docs/silicon.md: cells, latches, black boxes at six transistors)."""
    assert DESIGNS[0].total == pytest.approx(5656.7, abs=0.1)
    for design, error, without in MODEL.errors():
        assert abs(error) < 0.02, design.config
        assert abs(without) < 0.05, design.config


def test_errors_are_shares_of_what_was_measured():
    """A mesh twice as large as that of its cells is fitted between both."""
    odd, usual = made(2, 1), made(1, 1, scratchpad_kib=64)
    model = AreaModel([usual, odd])
    # The weight that is relatively nearest to 256 and 512: 1 / w of least squares is 5/3 of 1.
    mesh = model.unit("mesh", odd.config)
    assert mesh == pytest.approx(256 * (1 + 0.5) / (1 + 0.25))
    [_, (design, error, without)] = model.errors()
    assert design is odd
    assert error == pytest.approx((mesh - 512) / odd.total)
    assert without == pytest.approx((256 - 512) / odd.total)
    assert model.worst_units()[0] == ("mesh", pytest.approx(mesh - 512))


def test_a_machine_that_is_not_like_the_measured_ones_is_refused():
    MODEL.check(resolve_config("base", ("dim=8", "vector_lanes=0", "scratchpad_kib=32")))
    with pytest.raises(InputError, match=r"transform_queue: 8, but a design .* has 4; measure"):
        MODEL.check(PRESETS["gemmini"])


def test_documents_of_the_command_are_read(tmp_path):
    path = tmp_path / "area.json"
    units = {name: {"kge": 2.0, "um2": 7.5, "flip_flops": 1} for name in DESIGNS[0].kge}
    document = {
        "config": {"dim": 8, "normalization": True, "scratchpad_kib": 64, "accumulator_kib": 32},
        "units": units,
        "logic": {"kge": 50.0},
        "small_memories_kge": 30.0,
        "counted_kge": 50 + 30 + 96 * 8.192 * 1.5 + 11,
    }
    path.write_text(json.dumps(document))
    [design] = read_designs([str(path)])
    assert design.config.dim == 8
    assert design.kge["mesh"] == 2
    assert design.kge["small memories"] == 30
    assert design.kge["other black boxes"] == pytest.approx(11)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", ""),
        ("[]", ""),
        ("{}", "'config' is missing"),
        ('{"config": {"dims": 8}}', "dims"),
        ('{"config": {"dim": 8}, "units": {}}', "is missing"),
    ],
)
def test_what_is_no_such_document_is_refused(tmp_path, text, reason):
    path = tmp_path / "area.json"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"area\.json: .*{reason}"):
        read_designs([str(path)])


def test_a_file_that_is_missing_is_named():
    with pytest.raises(InputError, match=r"nowhere\.json"):
        read_designs([str(Path("nowhere.json"))])
