"""Cycles of float graphs, predicted and on the RTL."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.prune.costs import PREFILL, STEP, Cost, Machine, Meter, together
from celosia.sim.run.report import Measurement
from celosia.sw.quantize.encoders.float_graph import encoder_float_graph
from celosia.sw.reference.encoder import EncoderShape
from celosia.sw.reference.random_encoder import random_encoder

GRAPH = encoder_float_graph(
    random_encoder(EncoderShape(layers=1, width=8, heads=2, hidden=8), 0), [3]
)


def meter(rtl):
    return Meter(Machine(resolve_config("tiny", ()), MemoryTiming()), rtl)


def test_nothing_runs_if_it_is_not_asked_for(monkeypatch):
    monkeypatch.delattr("celosia.lab.prune.costs.measure_compiled")
    assert meter(rtl=False).cost("any", GRAPH).rtl_cycles is None


def test_every_program_runs(monkeypatch):
    """Each takes 7 cycles on what stands for the RTL here."""
    graphs = []

    def measured(_name, compiled, case, _opened):
        graphs.append(compiled.graph.name)
        assert {name: x.shape for name, x in case.inputs.items()} == {
            name: (case.graph.tensors[name].rows, case.graph.tensors[name].cols)
            for name in case.graph.inputs
        }
        return SimpleNamespace(whole=Measurement(name="any", cycles=7, elements_checked=1))

    monkeypatch.setattr("celosia.lab.prune.costs.measure_compiled", measured)
    assert meter(rtl=True).cost("any", GRAPH).rtl_cycles == 7 * len(graphs)


@pytest.mark.slow
def test_cycles_of_the_rtl_are_near_those_that_are_predicted():
    cost = meter(rtl=True).cost("three tokens", GRAPH)
    assert cost.input == "three tokens"
    assert cost.rtl_cycles == pytest.approx(cost.cycles, rel=0.05)
    assert cost.read_bytes > 0


def test_each_figure_is_the_one_that_it_is_called(monkeypatch):
    found = SimpleNamespace(cycles=11, read_bytes=22, write_bytes=33, matrix_bytes={})
    monkeypatch.setattr("celosia.lab.prune.costs.predict_graphs", lambda *_: found)
    cost = meter(rtl=False).cost("any", GRAPH)
    assert (cost.cycles, cost.read_bytes, cost.write_bytes) == (11, 22, 33)


def test_a_decoder_begins_with_128_tokens_and_goes_on_with_one_behind_them():
    assert (PREFILL.context, PREFILL.rows, PREFILL.keys) == (0, 128, 128)
    assert (STEP.context, STEP.rows, STEP.keys) == (128, 1, 129)


def test_tiles_of_zeros_have_a_limit():
    """Of 2 x 2 tiles of 8 x 8 weights, 3 rows: half of them takes 8 cycles of the array each."""
    weights = random_encoder(EncoderShape(layers=1, width=16, heads=2, hidden=16), 0)
    (layer,) = weights.layers
    empty = layer.up.weights.copy()
    empty[:8] = 0
    layer = replace(layer, up=replace(layer.up, weights=empty))
    graph = encoder_float_graph(replace(weights, layers=(layer,)), [3])
    machine = Machine(
        resolve_config("base", ("dim=8", "vector_lanes=8")), MemoryTiming(bytes_per_cycle=8)
    )
    cost = Meter(machine).cost("any", graph)
    assert cost.best_cycles is not None
    assert cost.best_read_bytes is not None
    assert cost.cycles - cost.best_cycles == 16
    assert cost.read_bytes - cost.best_read_bytes == 128


def test_programs_one_after_the_other_take_what_both_take():
    one = Cost(input="a", cycles=1, rtl_cycles=2, read_bytes=3, write_bytes=4)
    best = replace(one, best_cycles=0, best_read_bytes=2)
    found = together([one, best])
    assert found == Cost(
        input="a",
        cycles=2,
        rtl_cycles=4,
        read_bytes=6,
        write_bytes=8,
        best_cycles=1,
        best_read_bytes=5,
    )
    assert together([one, replace(one, rtl_cycles=None)]).rtl_cycles is None
    assert together([one]) == one
