"""Bounds of attention, layers and encoders, with runs that are made up."""

import json
from pathlib import Path

import jsonschema
import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.bench.encoders import ENCODERS, Encoder, run_encoders
from celosia.lab.bench.suite import Bench
from celosia.lab.bench.tables import encoders_table
from celosia.sim.run.outcome import Outcome
from celosia.sim.run.report import Measurement, Report, Setting, as_json
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import EncoderLayer, given

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "report.schema.json").read_text())
LAYER = Encoder(
    workload="encoder-layer", details=EncoderLayer(model="minilm", seq=128), bound=0.985
)
MACS = 256_000


def made_up(cycles, mismatches=0):
    """A runner whose runs all take `cycles` cycles; the least is 1,000."""

    def run(options, _tell):
        setting = Setting(
            workload=options.workload,
            preset=options.target.preset,
            simulator=options.target.simulator,
            config=PRESETS["base"],
            timing=options.target.timing,
            issue=options.target.issue,
        )
        measured = Measurement(
            name="layer",
            macs=MACS,
            cycles=cycles,
            mismatches=mismatches,
            elements_checked=10,
            cpu_seconds=1.0,
            counters={"cycles": cycles},
        )
        return Outcome(Report(setting=setting, operators=(measured,), elapsed_seconds=1.0))

    return run


def line(cycles, **change):
    (only,) = run_encoders(silent, made_up(cycles, **change), [LAYER])
    return only


def test_the_table_of_the_issue_is_complete():
    assert [(encoder.name, encoder.bound) for encoder in ENCODERS] == [
        ("attention 12 heads of 64 l=512", 0.985),
        ("encoder-layer minilm l=128", 0.985),
        ("encoder-layer bert-base l=128", 0.993),
        ("encoder-layer bert-base l=512", 0.996),
        ("encoder bert-base 4 layers l=128", 0.993),
        ("encoder-layer minilm l=128 rebalanced", 0.975),
        ("encoder-layer bert-base l=128 rebalanced", 0.98),
        ("encoder-layer bert-base l=512 rebalanced", 0.98),
        ("encoder-layer minilm l=128 latency 100", 0.975),
        ("encoder-layer bert-base l=128 latency 100", 0.98),
        ("encoder-layer bert-base l=128 8 B/cycle", 0.95),
        ("attention 1 head of 64 l=2048", 0.98),
        ("attention 1 head of 64 l=2048 causal", 0.98),
        ("attention 12 heads of 64 l=2048", 0.98),
        ("attention 12 heads of 64 l=2048 causal", 0.98),
        ("attention 1 head of 64 l=2048 16 lanes", 0.98),
        ("attention 1 head of 64 l=2048 causal 16 lanes", 0.98),
        ("attention 12 heads of 64 l=2048 16 lanes", 0.98),
        ("attention 12 heads of 64 l=2048 causal 16 lanes", 0.98),
    ]


def test_what_is_measured_is_what_its_name_says():
    for encoder in ENCODERS:
        options = encoder.options("ring")
        assert options.target.simulator == "verilator"
        assert options.target.issue == "ring"
        assert options.target.preset == ("rebalanced" if "rebalanced" in encoder.name else "base")
        assert given(options.details).get("causal", False) == ("causal" in encoder.name)
        lanes = ("vector_lanes=16",) if "16 lanes" in encoder.name else ()
        assert options.target.overrides == lanes
        assert options.target.timing == MemoryTiming(
            latency=100 if "latency" in encoder.name else 40,
            bytes_per_cycle=8 if "8 B" in encoder.name else 16,
        )


@pytest.mark.parametrize(("cycles", "right"), [(1015, True), (1016, False)])
def test_a_bound_is_a_share_of_the_array(cycles, right):
    assert line(cycles).right is right


def test_a_fast_run_that_is_wrong_is_not_right():
    assert not line(1001, mismatches=1).right


def test_a_slower_run_than_the_baseline_is_not_right():
    key = LAYER.name, "stream"
    assert Bench(encoders=(line(1001),), baseline={key: 1000}).right
    slow = Bench(encoders=(line(1010),), baseline={key: 1000})
    assert not slow.right
    assert list(slow.regressions) == [
        "encoder-layer minilm l=128 (stream): 1,010 cycles, 1,000 in the baseline"
    ]


def test_a_document_follows_the_schema():
    document = Bench(encoders=(line(1001),), command_line=("celosia", "bench")).document()
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(as_json(document)))


def test_a_number_below_its_bound_is_red():
    table = encoders_table([line(1001), line(5000)])
    (reached,) = (column for column in table.columns if column.header == "MAC util.")
    assert [str(cell)[:4] for cell in reached.cells] == ["[gre", "[red"]
