"""Files of machines: which are legal, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from celosia.isa.presets import PRESETS
from celosia.lab.nas.machines.area import AreaModel, shipped_designs
from celosia.lab.nas.machines.machine_space import read_machines
from celosia.sim.support.problems import InputError

BASE = PRESETS["base"]
MODEL = AreaModel(shipped_designs())


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def read(text):
    Path("machines.toml").write_text(text)
    return read_machines("machines.toml", BASE, MODEL)


def test_machines_are_at_most_as_large_as_the_fixed_one():
    """A smaller scratchpad makes room for an array of 32, whose 768 cells more have 1 MGE."""
    space = read("dim = [16, 32]\nscratchpad_kib = [64, 256, 512]\n")
    chosen = [(each.dim, each.scratchpad_kib) for each in space.legal]
    assert chosen == [(16, 64), (16, 256), (32, 64)]
    assert space.rates == [8, 16]
    assert space.bounds.area_kge == space.areas[BASE]
    assert space.largest.dim == 32
    assert space.smallest.scratchpad_kib == 64


def test_what_cannot_be_built_is_left_out():
    space = read("vector_lanes = [4, 5, 8]\narea_kge = 9000\nrates = [16, 8, 8]\n")
    assert [each.vector_lanes for each in space.legal] == [4, 8]
    assert space.rates == [8, 16]


def test_with_a_bound_of_energy_area_is_free():
    space = read("scratchpad_kib = [1024]\nprefill_uj = 3000\n")
    assert space.bounds.area_kge is None
    assert space.bounds.uj == {"prefill": 3000.0}
    assert len(space.legal) == 1


def test_changes_and_children_stay_legal():
    space = read("dim = [16, 32]\nscratchpad_kib = [64, 256]\nbus_bits = [64, 128]\n")
    random = np.random.default_rng(0)
    seen = set()
    machine = space.drawn(random)
    for _ in range(200):
        other = space.changed(machine, random, 0.5)
        machine = space.crossed(other, machine, random)
        assert {machine, other} <= set(space.legal)
        seen |= {machine, other}
    assert seen == set(space.legal)
    assert space.changed(machine, random, 0.0) == machine


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dim = ", "machines.toml: not TOML"),
        ("rates = [8]", "there is none of dim, scratchpad_kib"),
        ("scratchpad = [8]", "scratchpad: there are dim, .*; did you mean scratchpad_kib?"),
        ("dim = 16", "dim: 16 is not a list of whole numbers"),
        ("dim = [16.0]", r"dim: \[16.0\] is not a list"),
        ("dim = []", "dim: there are none, so no machine is legal"),
        ("dim = [17, 18]", "no machine is legal; the first: dim: 17 is not a power of two"),
        ("dim = [16]\nrates = [0]", r"rates: 0 is not in 1\.\.64"),
        ("dim = [16]\nrates = []", "rates: there are none"),
        ("dim = [16]\narea_kge = 0", "area_kge: 0 is not a number above 0"),
        ("dim = [16]\nstep_uj = true", "step_uj: True is not a number above 0"),
        (
            "dim = [16, 32]\narea_kge = 10",
            r"no machine has at most 10 kGE; the nearest has 5,\d\d\d: dim 16",
        ),
        (
            "\n".join(f"{n} = {list(range(1, 30))}" for n in ("dim", "bus_bits", "vector_lanes")),
            "24,389 machines, more than 10,000",
        ),
    ],
)
def test_what_is_no_space_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        read(text)


def test_a_file_that_is_missing_is_named():
    with pytest.raises(InputError, match=r"nowhere\.toml"):
        read_machines("nowhere.toml", BASE, MODEL)
