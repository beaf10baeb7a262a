"""Modes of a layer: what is counted, and that every mode computes the layer."""

import json
from functools import partial

import pytest

from celosia.isa.functions.table import ACTIVATIONS
from celosia.lab.bench.suite import Bench
from celosia.lab.bench.tables import nonlinear_table
from celosia.lab.compilers.nonlinear import HOST_CYCLES, MODES, measure_mode, run_nonlinear
from celosia.sim.run.origin import as_json
from celosia.sim.run.report import Measurement
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sw.reference.encoder import EncoderShape
from tests.support.command_line import refused
from tests.support.documents import validate

SHAPE = EncoderShape(layers=2, width=32, heads=2, hidden=64)
CYCLES = {"offloaded": 1000, "serial": 400, "no overlap": 300, "as compiled": 200}


def made_up(mode, case, config, _tell):
    return Measurement(
        name=mode.name, macs=100 * 256, cycles=CYCLES[mode.name], mismatches=0, elements_checked=1
    )


FOUND = run_nonlinear(silent, 5, made_up, SHAPE)


def test_the_host_is_a_model_of_cycles_per_element():
    offloaded, *others = FOUND.lines
    assert offloaded.host["softmax"] == 2 * 5 * 5 * HOST_CYCLES["softmax"]
    assert offloaded.host["layernorm"] == 2 * 5 * 32 * HOST_CYCLES["layernorm"]
    assert offloaded.cycles == 1000 + sum(offloaded.host.values())
    assert all(not line.host and line.cycles == line.measured.cycles for line in others)


def test_every_activation_takes_a_host_cycles():
    assert {*ACTIVATIONS} <= HOST_CYCLES.keys()


def test_speed_ups_are_over_the_offloaded_mode():
    compiled = FOUND.line("as compiled")
    base = FOUND.line("offloaded").cycles
    assert base is not None
    assert FOUND.speedup(compiled) == pytest.approx(base / 200)
    assert FOUND.speedup(FOUND.line("offloaded")) == 1
    assert FOUND.utilization(compiled) == pytest.approx(0.5)
    assert FOUND.utilization(FOUND.line("serial")) == pytest.approx(0.25)


def test_the_document_and_the_table_say_it():
    bench = Bench(parts={"nonlinear": FOUND})
    document = json.loads(as_json(bench.document()))
    validate(document)
    assert [mode["name"] for mode in document["nonlinear"]["modes"]] == list(CYCLES)
    columns = nonlinear_table(FOUND).columns
    cells = {name: column.cells for column in columns if isinstance(name := column.header, str)}
    host = sum(FOUND.line("offloaded").host.values())
    assert list(cells["mode"]) == list(CYCLES)
    assert list(cells["accelerator (RTL)"]) == [f"{cycles:,}" for cycles in CYCLES.values()]
    wanted = [f"{1000 + host:,}", *(f"{CYCLES[mode]:,}" for mode in list(CYCLES)[1:])]
    assert list(cells["cycles"]) == wanted
    assert list(cells["host (model)"]) == [f"{host:,}", *["0"] * (len(MODES) - 1)]
    assert list(cells["speed-up"])[-1] == f"{(1000 + host) / 200:.1f}x"
    assert bench.right


def test_every_mode_computes_the_layer():
    found = run_nonlinear(silent, 6, partial(measure_mode, simulator="functional"), SHAPE)
    assert found.right
    assert len({line.measured.macs for line in found.lines}) == 1


def test_wrong_arguments_are_refused():
    refused("0 is not 1 or more", "bench", "nonlinear", "--seq", "0")
    refused("only bench nonlinear has it", "bench", "products", "--seq", "8")
    with pytest.raises(InputError, match="513"):
        run_nonlinear(silent, 513)
