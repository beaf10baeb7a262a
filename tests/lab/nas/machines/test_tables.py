"""What `celosia nas --machine` prints of areas."""

from celosia.isa.presets import PRESETS
from celosia.lab.nas.machines.area import AreaModel, shipped_designs
from celosia.lab.nas.machines.machine_space import read_machines
from celosia.lab.nas.machines.tables import area_lines


def lines(text, tmp_path):
    path = tmp_path / "machines.toml"
    path.write_text(text)
    model = AreaModel(shipped_designs())
    return list(area_lines(model, read_machines(str(path), PRESETS["base"], model)))


def test_errors_and_the_number_of_machines_are_said(tmp_path):
    errors, machines = lines("dim = [8, 16]\n", tmp_path)
    assert errors.startswith("area, against 2 measured designs: mean error ")
    assert machines.startswith("2 machines of at most 5,6")


def test_a_space_beyond_the_measured_designs_is_said_to_be(tmp_path):
    _, beyond, _ = lines("dim = [16, 32]\nscratchpad_kib = [32, 256]\n", tmp_path)
    assert beyond == "areas are extrapolated beyond what was measured: dim 32"
