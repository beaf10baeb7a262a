"""Bounds of decoders' steps, with runs that are made up."""

import json
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.bench.decoders import STEPS, Decoder, run_decoders
from celosia.lab.bench.suite import Bench
from celosia.lab.bench.tables import decoders_table
from celosia.sim.run.outcome import Outcome
from celosia.sim.run.report import Measurement, Report, Setting, as_json
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import given

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "report.schema.json").read_text())
STEP = Decoder(model="gpt2-small", contexts=(128,), bound=0.95)
PREFILL = Decoder(model="gpt2-small", of="array", contexts=(0,), rows=512, bound=0.99)


def line(cycles, mismatches=0, decoder=STEP):
    """A run of 16,000 bytes, which 16 bytes per cycle send in 1,000 cycles, or of as long work."""

    def run(options, _tell):
        setting = Setting(
            workload=options.workload,
            preset=options.target.preset,
            simulator=options.target.simulator,
            config=PRESETS["base"],
            timing=options.target.timing,
        )
        whole = Measurement(
            name="decoder",
            macs=256_000,
            cycles=cycles,
            mismatches=mismatches,
            elements_checked=10,
        )
        return Outcome(
            Report(
                setting=setting,
                operators=(whole,),
                whole=whole,
                step_bytes=16_000,
                elapsed_seconds=1.0,
            )
        )

    (only,) = run_decoders(silent, run, [decoder])
    return only


def test_the_table_of_the_issue_is_complete():
    assert [(step.name, step.bound) for step in STEPS] == [
        ("decoder gpt2-small context=128 rows=1", 0.95),
        ("decoder gpt2-small context=1024 rows=1", 0.95),
        ("decoder gpt2-small context=128 rows=1 latency 100", 0.94),
        ("decoder gpt2-small context=1024 rows=1 latency 100", 0.94),
        ("decoder gpt2-small context=128 rows=1 8 B/cycle", 0.96),
        ("decoder gpt2-small context=1024 rows=1 8 B/cycle", 0.96),
        ("decoder opt-125m context=128 rows=1", 0.95),
        ("decoder tinyllama context=128 rows=1 4 layers", 0.93),
        ("decoder gpt2-small context=17-362 of 16 texts rows=1", 0.93),
        ("decoder-layer gpt2-small context=0 rows=512", 0.99),
    ]


def test_what_is_measured_is_what_its_name_says():
    for step in STEPS:
        options = step.options("ring")
        target, details = options.target, given(options.details)
        assert (target.simulator, target.issue, target.preset) == ("verilator", "ring", "base")
        assert target.timing == MemoryTiming(
            latency=100 if "latency" in step.name else 40,
            bytes_per_cycle=8 if "8 B" in step.name else 16,
        )
        assert details.get("layers") == (4 if "4 layers" in step.name else None)
        assert options.workload == step.name.split()[0]
        contexts = details["context"].split(",")
        assert len(set(contexts)) == (16 if "16 texts" in step.name else 1)


@pytest.mark.parametrize(
    ("found", "right"),
    [
        (line(1052), True),
        (line(1053), False),
        (line(1000, 1), False),
        (line(None), False),
        (line(1010, decoder=PREFILL), True),
        (line(1011, decoder=PREFILL), False),
    ],
)
def test_a_step_is_right_above_its_bound_without_a_mismatch(found, right):
    bench = Bench(decoders=(found,))
    assert found.right == bench.right == right
    document = json.loads(as_json(bench.document()))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document["decoders"][0]["reached"] == (found.reached if found.reached else None)


def test_cycles_are_for_the_baseline_and_slower_ones_are_named():
    bench = Bench(decoders=(line(1052),), baseline={(STEP.name, "stream"): 1000})
    assert list(bench.cycles) == [((STEP.name, "stream"), 1052)]
    (words,) = bench.regressions
    assert (
        words
        == "decoder gpt2-small context=128 rows=1 (stream): 1,052 cycles, 1,000 in the baseline"
    )


def test_the_table_shows_shares_and_peers():
    console = Console(width=120, record=True)
    console.print(decoders_table([line(1052)]))
    text = console.export_text()
    assert "95.06%" in text
    assert "arXiv 2502.10659" in text
