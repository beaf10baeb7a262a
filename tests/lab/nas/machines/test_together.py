"""Model and machine together, where it is known what each is worth."""

import re
from types import SimpleNamespace

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.nas.machines.area import AreaModel, shipped_designs
from celosia.lab.nas.machines.machine_space import Bounds, MachineSpace, read_machines
from celosia.lab.nas.machines.tables import over_alone, together_lines
from celosia.lab.nas.machines.together import compare, gain_of, winner
from celosia.lab.nas.models.costs import Cost, Costs
from celosia.lab.nas.models.space import Space
from celosia.lab.prune.costs import Machine
from celosia.sim.export.silicon.energy.table import load_table
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent

BASE = PRESETS["base"]
MODELS = Space(depths=(1, 2), widths=(16,), heads=(2,), hidden=(16, 32), head_width=8)
TABLE = load_table(None)
PJ = 162.5
"""A byte that crosses the bus takes so many pJ in the default table."""


class _Layers(dict):
    def __init__(self, cost):
        super().__init__()
        self.cost = cost

    def __missing__(self, key):
        return self.cost(key)


def costs(machine):
    """A layer takes a byte for each channel, and a cycle where array and memory have 16."""
    slow = 16 / machine.timing.bytes_per_cycle
    width = 16 / machine.config.dim

    def cost(number):
        events = {"bus_read_byte": number, "mac": 0}
        return Cost(number * slow * width, events)

    return Costs(_Layers(lambda key: cost(key[2].hidden)), _Layers(lambda _: cost(64)))


def score(model):
    """Channels are worth little: the smallest but one loses 4 %."""
    channels = sum(each.hidden for each in model.layers)
    return {64: 20.0, 48: 20.05, 32: 20.8, 16: 40.0}[channels]


def space(tmp_path, text):
    path = tmp_path / "machines.toml"
    path.write_text(text)
    return read_machines(str(path), BASE, AreaModel(shipped_designs()))


def compared(machines, seed=0, budget=40, most=8):
    asked = SimpleNamespace(space=MODELS, seed=seed, budget=budget)
    found = SimpleNamespace(judge=SimpleNamespace(score=score))
    machine = Machine(BASE, MemoryTiming())
    return compare(
        asked,  # pyright: ignore[reportArgumentType]
        found,  # pyright: ignore[reportArgumentType]
        machines,
        machine,
        TABLE,
        most,
        lines=None,  # pyright: ignore[reportArgumentType]
        tell=silent,
        costs=costs,
    )


def test_gains_of_both_are_those_of_each_multiplied(tmp_path):
    """By hand: 128 and 112 of channels and width, whose square is EDP; an array of 32 halves."""
    found = compared(space(tmp_path, "dim = [16, 32]\nscratchpad_kib = [64]\n"))
    places = [(each.rate, each.scenario) for each in found]
    assert places == [(8, "prefill"), (8, "step"), (16, "prefill"), (16, "step")]
    for each in found:
        amount = each.base.amount
        assert amount.cycles == 128 * 16 / each.rate
        assert amount.pj == 128 * PJ
        for loss, channels in ((0.0045, 112), (0.045, 96)):
            by_model = (128 / channels) ** 2
            assert gain_of(each, "model", loss) == pytest.approx(by_model)
            assert gain_of(each, "machine", loss) == pytest.approx(2)
            assert gain_of(each, "both", loss) == pytest.approx(2 * by_model)
            assert over_alone(each, loss) == pytest.approx(by_model)
        best = winner(each, "both", 0.0045)
        assert best is not None
        assert best.pair.config.dim == 32
    assert next(together_lines(found)) == (
        "prefill, 8 B/cycle, +0.45%: both gain 1.31 x of what the better of each alone does, "
        "energy times cycles, inherited weights"
    )


def test_nothing_is_gained_where_the_machine_cannot_be_better(tmp_path):
    """The fixed machine stays where others are worse, though it is not in the space."""
    for each in compared(space(tmp_path, "dim = [8]\nrates = [16]\n")):
        assert gain_of(each, "machine", 0.0045) == 1
        best = winner(each, "both", 0.0045)
        assert best is not None
        assert best.pair.config == BASE
        assert over_alone(each, 0.0045) == pytest.approx(1)


def test_a_budget_is_kept(tmp_path):
    text = "dim = [8, 16, 32]\nscratchpad_kib = [32, 64, 128]\naccumulator_kib = [32, 64]\n"
    for each in compared(space(tmp_path, text), budget=5, most=4):
        assert len(each.found["machine"]) == 4
        for way in ("model", "both"):
            assert len(each.found[way]) <= 5
    first, again = (compared(space(tmp_path, text), budget=5, most=4) for _ in range(2))
    for one, other in zip(first, again, strict=True):
        chosen, same = ([each.pair for each in x.found["both"]] for x in (one, other))
        assert chosen == same


def test_a_bound_of_energy_that_nothing_meets_names_the_nearest(tmp_path):
    """The smallest model moves 80 bytes, which are 0.013 uJ; it is one of six in each search."""
    machines = space(tmp_path, "dim = [16]\nrates = [16]\nstep_uj = 0.001\n")
    message = "step_uj: of 14 pairs none takes at most 0.001 uJ; the nearest takes 0.013"
    with pytest.raises(InputError, match=re.escape(message)):
        compared(machines)


def test_a_bound_of_energy_binds_each_way(tmp_path):
    """0.0183 uJ are 112 bytes and a few: the largest model takes more, whatever its machine."""
    machines = space(tmp_path, "dim = [16, 32]\nrates = [16]\nprefill_uj = 0.0183\n")
    prefill, step = compared(machines)
    assert machines.bounds == Bounds(area_kge=None, uj={"prefill": 0.0183})
    assert isinstance(machines, MachineSpace)
    assert winner(prefill, "machine", 0.0045) is None
    assert gain_of(prefill, "machine", 0.0045) == 0
    best = winner(prefill, "both", 0.0045)
    assert best is not None
    assert best.amount.pj == 112 * PJ
    assert gain_of(step, "machine", 0.0045) == 2
