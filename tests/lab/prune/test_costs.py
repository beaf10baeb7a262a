"""Cycles of float graphs, predicted and on the RTL."""

from types import SimpleNamespace

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.prune.costs import PREFILL, STEP, Machine, Meter
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
    found = SimpleNamespace(cycles=11, read_bytes=22, write_bytes=33)
    monkeypatch.setattr("celosia.lab.prune.costs.predict_graphs", lambda *_: found)
    cost = meter(rtl=False).cost("any", GRAPH)
    assert (cost.cycles, cost.read_bytes, cost.write_bytes) == (11, 22, 33)


def test_a_decoder_begins_with_128_tokens_and_goes_on_with_one_behind_them():
    assert (PREFILL.context, PREFILL.rows, PREFILL.keys) == (0, 128, 128)
    assert (STEP.context, STEP.rows, STEP.keys) == (128, 1, 129)
