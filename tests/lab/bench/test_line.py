"""What a bound is a share of, with runs that are made up: what is measured is not tested here."""

import json
from dataclasses import replace
from typing import Any

import pytest

from celosia.isa.presets import PRESETS
from celosia.lab.bench.cases import PRODUCTS
from celosia.lab.bench.line import BenchCase, BenchLine, run_cases
from celosia.lab.bench.suite import Bench
from celosia.lab.bench.tables import cases_table
from celosia.sim.run.origin import as_json
from celosia.sim.run.outcome import Outcome
from celosia.sim.run.report import Failure, Measurement, Report, Setting
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import Decoder, EncoderLayer, Matmul
from celosia.sim.workloads.operands import parse_shape
from celosia.sw.driver.device import ISSUES, Issue
from celosia.sw.ir.matmul import MatMul
from celosia.sw.timeline.product_limits import matmul_limit
from tests.support.documents import validate

BASE = PRESETS["base"]
SMALL = BenchCase(workload="matmul", details=Matmul(shape="64x64x64"), bound=0.65, gemmini=0.489)
ROW = BenchCase(
    workload="matmul",
    details=Matmul(shape="1x768x768"),
    bound=0.9,
    of="memory",
    least_cycles=36_864,
)
LAYER = BenchCase(
    workload="encoder-layer", details=EncoderLayer(model="minilm", seq=128), bound=0.985
)
STEP = BenchCase(
    workload="decoder",
    details=Decoder(model="gpt2-small", context="128", rows=1),
    bound=0.95,
    of="memory",
)


def measurement(options, cycles) -> Measurement:
    """A product's, or that of 1,000 cycles of multiplications."""
    known: dict[str, Any] = {
        "cycles": cycles,
        "mismatches": 0,
        "elements_checked": 10,
        "cpu_seconds": 1.0,
    }
    if not isinstance(options.details, Matmul):
        return Measurement(name=options.workload, macs=256_000, **known)
    m, n, k = parse_shape(options.details.shape or "")
    problem = MatMul(m=m, n=n, k=k, bias=True, scale=1.0)
    limit = matmul_limit(problem, BASE, options.target.timing)
    return Measurement(name="matmul", macs=problem.macs, limit=limit, **known)


def line(case, cycles, issue: Issue = "stream", **change) -> BenchLine:
    """A run of so many cycles; a step has 16,000 bytes to wait for, in 1,000 cycles at least."""

    def run(options, _tell):
        setting = Setting(
            workload=options.workload,
            preset=options.target.preset,
            simulator=options.target.simulator,
            config=BASE,
            timing=options.target.timing,
            issue=options.target.issue,
        )
        measured = replace(measurement(options, cycles), **change)
        return Outcome(
            Report(
                setting=setting,
                operators=(measured,),
                whole=measured,
                step_bytes=16_000,
                elapsed_seconds=1.0,
            )
        )

    (only,) = run_cases([case], silent, issue, run).lines
    return only


def bench(*lines: BenchLine, baseline=()) -> Bench:
    cases = run_cases([], silent)
    return Bench(parts={"encoders": replace(cases, lines=lines)}, baseline=dict(baseline))


@pytest.mark.parametrize(
    ("case", "longest"), [(SMALL, 1575), (ROW, 40_960), (LAYER, 1015), (STEP, 1052)]
)
def test_a_bound_is_a_share_of_the_array_or_of_what_memory_must_send(case, longest):
    assert line(case, longest).right
    assert not line(case, longest + 1).right


@pytest.mark.parametrize(
    ("case", "cycles"), [(SMALL, 2048), (ROW, 73_728), (LAYER, 2000), (STEP, 2000)]
)
def test_what_is_reached_is_that_share(case, cycles):
    assert line(case, cycles).reached == 0.5


def test_commands_of_a_ring_are_part_of_what_memory_must_carry():
    # 5,000 commands of 24 bytes: 7,500 cycles at 16 bytes per cycle.
    assert line(ROW, 2 * 44_364, "ring", entries=5_000).reached == 0.5
    assert line(ROW, 73_728, "stream", entries=5_000).reached == 0.5
    assert line(SMALL, 2048, "ring", entries=5_000).reached == 0.5
    stream, ring = (line(ROW, 50_000, issue, entries=5_000).limit for issue in ISSUES)
    assert stream is not None
    assert ring is not None
    assert stream < ring < 1


def test_no_bound_of_a_product_is_beyond_its_limit():
    for case in PRODUCTS:
        limit = line(case, 1).limit
        assert limit is not None
        assert case.bound < limit <= 1


@pytest.mark.parametrize(
    ("case", "cycles"), [(SMALL, 1200), (ROW, 37_000), (LAYER, 1001), (STEP, 1001)]
)
@pytest.mark.parametrize(
    "change",
    [
        {"mismatches": 1},
        {"elements_checked": 0},
        {"cycles": None, "failure": Failure(message="m", cause="NONE")},
    ],
)
def test_a_fast_run_that_is_wrong_is_not_right(case, cycles, change):
    assert line(case, cycles).right
    found = line(case, **{"cycles": cycles, **change})
    assert not found.right
    assert not bench(found).right


@pytest.mark.parametrize("lanes", [None, 16])
def test_lanes_stand_before_what_else_is_set(lanes):
    overrides = replace(LAYER, lanes=lanes).options(overrides=("scale_bits=8",)).target.overrides
    assert overrides == (*(["vector_lanes=16"] if lanes else []), "scale_bits=8")


def test_cycles_are_for_the_baseline_and_slower_ones_are_named():
    key = LAYER.name, "stream"
    assert bench(line(LAYER, 1001), baseline={key: 1000}.items()).right
    slow = bench(line(LAYER, 1010), baseline={key: 1000}.items())
    assert list(slow.cycles) == [(key, 1010)]
    assert not slow.right
    assert list(slow.regressions) == [
        "encoder-layer minilm l=128 (stream): 1,010 cycles, 1,000 in the baseline"
    ]
    wrong = bench(line(LAYER, 1010, mismatches=1), baseline={key: 1000}.items())
    assert not list(wrong.regressions)


def test_a_document_follows_the_schema():
    lines = (line(SMALL, 1300), line(ROW, 37_200), line(LAYER, 1001), line(STEP, None))
    document = json.loads(as_json(bench(*lines).document()))
    validate(document)
    found = document["encoders"]
    assert [each["bound"] for each in found] == [0.65, 0.9, 0.985, 0.95]
    assert [each["of"] for each in found] == ["array", "memory", "array", "memory"]
    assert [each["limit"] is None for each in found] == [False, False, True, True]
    assert document["products"] is None


def test_a_number_below_its_bound_is_red():
    table = cases_table([line(SMALL, 1300), line(SMALL, 5000)], "Products")
    (reached,) = (column for column in table.columns if column.header == "reached")
    assert [str(cell)[:4] for cell in reached.cells] == ["[gre", "[red"]


def test_a_column_that_nothing_is_known_for_is_left_out():
    table = cases_table([line(STEP, 1052)], "Steps", "peers")
    heads = [column.header for column in table.columns]
    assert heads == ["workload", "cycles", "share of", "reached", "at least", "mismatches"]
    assert table.caption == "peers"
