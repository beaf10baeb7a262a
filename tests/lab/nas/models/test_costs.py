"""Costs as sums over layers."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.nas.models import costs
from celosia.lab.nas.models.costs import (
    SCENARIOS,
    Cost,
    Piece,
    costs_of,
    costs_when_asked,
    measure,
    measured_costs,
    whole,
)
from celosia.lab.nas.models.space import Space
from celosia.lab.prune.costs import Machine, Meter
from celosia.lab.sweep.lines import open_lines
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import OutputError
from celosia.sim.support.progress import silent
from celosia.sim.support.version import LAYERS, source_version
from celosia.sim.support.workers import Lane, Lost
from celosia.sw.decoding.step_graph import step_graph
from celosia.sw.decoding.texts import CacheLayout
from celosia.sw.models.decoder_graph import llama_float_graph
from tests.support.language import random_weights

HERE = (Lane(make=lambda: ThreadPoolExecutor(1)),)
MACHINE = Machine(resolve_config("base", ()), MemoryTiming())
SPACE = Space(depths=(1, 2), widths=(32, 48), heads=(2,), hidden=(32, 64))
EVENTS = {"mac": 5, "bus_read_byte": 7}


def additive(piece):
    """100 cycles a program, and for each layer its channels; 1000 for the vocabulary."""
    layers = sum(each.hidden for each in piece.layers)
    return Cost(100 + layers + 1000 * piece.with_vocabulary, EVENTS)


def test_a_model_is_the_sum_of_its_layers_and_what_its_width_takes(tmp_path):
    with open_lines(tmp_path, "nas.jsonl", "search") as lines:
        found = measured_costs(SPACE, MACHINE, lines, HERE, silent, additive)
        measured_costs(SPACE, MACHINE, lines, HERE, silent, lambda piece: pytest.fail(piece.key))
    thin, thick = SPACE.layers
    # A layer: half of a program of two.  A width: 100 + 3 * 64 + 1000, less three of 50 + 64.
    assert found.layers["step", 32, thin].cycles == 82
    assert found.widths["step", 32].cycles == 950
    assert found.of(SPACE.model(32, (thin, thick)), "step").cycles == 950 + 82 + 114


def test_costs_are_compiled_when_a_model_needs_them(tmp_path):
    """The same sums, of what one model has: its layer, the width's middle one, and the whole."""
    compiled = []

    def told(piece):
        compiled.append(piece)
        return additive(piece)

    thin, thick = SPACE.layers
    with open_lines(tmp_path, "nas.jsonl", "search") as lines:
        found = costs_when_asked(SPACE, MACHINE, lines, told)
        assert not compiled
        assert found.of(SPACE.model(32, (thin, thin)), "step").cycles == 950 + 2 * 82
        assert len(compiled) == 3
        assert found.of(SPACE.model(32, (thin, thick)), "step").cycles == 950 + 82 + 114
        again = costs_when_asked(SPACE, MACHINE, lines, lambda piece: pytest.fail(piece.key))
        assert again.of(SPACE.model(32, (thick,)), "step").cycles == 950 + 114
        assert len(compiled) == 3


def test_another_machine_has_other_costs():
    piece = whole(SPACE.smallest, "step", MACHINE)
    other = whole(SPACE.smallest, "step", Machine(MACHINE.config, MemoryTiming(latency=41)))
    assert piece.key != other.key
    assert whole(SPACE.smallest, "prefill", MACHINE).key != piece.key


def test_a_program_has_the_cycles_and_bytes_that_others_predict_of_it():
    model = SPACE.smallest
    found = measure(whole(model, "step", MACHINE))
    weights = random_weights(model)
    text = SCENARIOS["step"]
    step = step_graph(llama_float_graph(weights, text.keys), [text], CacheLayout(1, text.keys))
    expected = Meter(MACHINE).cost("step", step.graph)
    assert found.cycles == pytest.approx(expected.cycles, rel=0.02)
    assert found.events["bus_read_byte"] == pytest.approx(expected.read_bytes, rel=0.02)
    assert found.events["scratchpad_read_byte"] > 0


def test_a_worker_of_another_version_refuses():
    piece = Piece(
        width=32,
        layers=SPACE.smallest.layers,
        text=SCENARIOS["step"],
        machine=MACHINE,
        version="other",
    )
    with pytest.raises(EnvironmentProblem, match=f"version {source_version(LAYERS)}"):
        measure(piece)


def test_a_folder_is_of_one_search_at_a_time(tmp_path):
    with (
        open_lines(tmp_path, "nas.jsonl", "search"),
        pytest.raises(OutputError, match="another search writes there"),
        open_lines(tmp_path, "nas.jsonl", "search"),
    ):
        pass


def test_a_layer_that_ends_its_workers_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(costs, "run_on", lambda *a: ((each, Lost(5)) for each in a[2]))
    with (
        open_lines(tmp_path, "nas.jsonl", "search") as lines,
        pytest.raises(EnvironmentProblem, match="ended 5 times when it compiled 1 layers of 32"),
    ):
        costs_of([whole(SPACE.smallest, "step", MACHINE)], lines, HERE, silent)
