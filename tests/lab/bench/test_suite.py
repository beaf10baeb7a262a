"""Bounds, with runs that are made up: what is measured is not tested here."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from celosia.isa.presets import PRESETS
from celosia.lab.bench.suite import PRODUCTS, Bench, Product, run_products
from celosia.lab.bench.tables import products_table
from celosia.sim.run.outcome import Outcome
from celosia.sim.run.report import Failure, Measurement, Report, Setting, as_json
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import given
from celosia.sim.workloads.operands import parse_shape
from celosia.sw.driver.device import ISSUES, Issue
from celosia.sw.ir.matmul import MatMul
from celosia.sw.timeline.limits import matmul_limit

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "report.schema.json").read_text())
BASE = PRESETS["base"]
SMALL = Product(shape="64x64x64", bound=0.65, gemmini=0.489)
ROW = Product(shape="1x768x768", bound=0.9, least_cycles=36_864)


def made_up(duration, **change):
    """A runner whose runs all take `duration` cycles."""

    def run(options, _tell):
        m, n, k = parse_shape(options.details.shape)
        problem = MatMul(m=m, n=n, k=k, bias=True, scale=1.0)
        measured = Measurement(
            name="matmul",
            shape=options.details.shape,
            macs=problem.macs,
            cycles=duration,
            mismatches=0,
            elements_checked=m * n,
            cpu_seconds=1.0,
            counters={"cycles": duration},
            limit=matmul_limit(problem, BASE, options.target.timing),
        )
        setting = Setting(
            workload=options.workload,
            preset=options.target.preset,
            simulator=options.target.simulator,
            config=BASE,
            timing=options.target.timing,
            issue=options.target.issue,
        )
        return Outcome(
            Report(setting=setting, operators=(replace(measured, **change),), elapsed_seconds=1.0)
        )

    return run


def line(product, duration, issue: Issue = "stream", **change):
    (only,) = run_products(silent, made_up(duration, **change), [product], issue)
    return only


def test_a_bound_is_a_share_of_the_array():
    at_bound = int(64**3 / 256 / 0.65)
    assert line(SMALL, at_bound).right
    assert not line(SMALL, at_bound + 1).right
    assert line(SMALL, 2048).reached == 0.5


def test_a_bound_of_memory_is_a_share_of_its_cycles():
    assert line(ROW, 40_960).right
    assert not line(ROW, 40_961).right
    assert line(ROW, 73_728).reached == 0.5


def test_commands_of_a_ring_are_part_of_what_memory_must_carry():
    # 5,000 commands of 24 bytes: 7,500 cycles at 16 bytes per cycle.
    assert line(ROW, 2 * 44_364, "ring", entries=5_000).reached == 0.5
    assert line(ROW, 73_728, "stream", entries=5_000).reached == 0.5
    assert line(SMALL, 2048, "ring", entries=5_000).reached == 0.5
    stream, ring = (line(ROW, 50_000, issue, entries=5_000).limit for issue in ISSUES)
    assert stream is not None
    assert ring is not None
    assert stream < ring < 1


@pytest.mark.parametrize("product", [SMALL, ROW])
@pytest.mark.parametrize(
    "change",
    [
        {"mismatches": 1},
        {"elements_checked": 0},
        {"cycles": None, "failure": Failure(message="m", cause="NONE")},
    ],
)
def test_a_fast_run_that_is_wrong_is_not_right(product, change):
    found = line(product, 1200 if product is SMALL else 37_000, **change)
    assert not found.right
    assert not Bench(products=(found,)).right


def test_the_table_of_the_issue_is_complete():
    assert [(product.name, product.bound) for product in PRODUCTS] == [
        ("64x64x64", 0.70),
        ("128x128x128", 0.95),
        ("512x768x768", 0.997),
        ("128x128x64 B^T", 0.88),
        ("128x64x128", 0.88),
        ("512x512x64 B^T", 0.98),
        ("512x64x512", 0.98),
        ("128x768x768", 0.99),
        ("128x3072x768", 0.99),
        ("128x768x3072", 0.99),
        ("512x768x768 latency 100", 0.99),
        ("1x768x768", 0.90),
    ]
    assert [round(100 * p.gemmini, 1) if p.gemmini else None for p in PRODUCTS] == [
        48.9, 86.3, 99.4, 66.6, 62.3, 78.1, 90.3, 98.0, None, None, 89.4, 63.0,
    ]  # fmt: skip


def test_what_is_measured_is_what_the_issue_says():
    for product in PRODUCTS:
        options = product.options()
        assert (options.target.preset, options.target.simulator, options.workload) == (
            "base",
            "verilator",
            "matmul",
        )
        assert options.target.timing.bytes_per_cycle == 16
        assert options.target.timing.stall_percent == 0
        assert options.target.timing.latency == (100 if "latency 100" in product.name else 40)
        assert given(options.details).get("transpose_b", False) == ("B^T" in product.name)


def test_no_bound_is_beyond_its_limit():
    for found in run_products(silent, made_up(1), PRODUCTS):
        assert found.limit is not None
        assert found.product.bound < found.limit <= 1


def test_a_document_follows_the_schema():
    lines = (line(SMALL, 1300), line(ROW, 37_200))
    document = Bench(products=lines, command_line=("celosia", "bench")).document()
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(as_json(document)))
    assert document["right"]
    assert [each["bound"] for each in document["products"]] == [0.65, 0.9]


def test_a_number_below_its_bound_is_red():
    table = products_table([line(SMALL, 1300), line(SMALL, 5000)])
    (reached,) = (column for column in table.columns if column.header == "reached")
    assert [str(cell)[:4] for cell in reached.cells] == ["[gre", "[red"]


class Right:
    """A line, or a whole part of a benchmark, that is right or not."""

    def __init__(self, right):
        self.right, self.error, self.helps = right, None, False


def bench_of(part: str, value: Any) -> Bench:
    return replace(Bench(), **{part: value})


@pytest.mark.parametrize("part", ["cost", "trace", "silicon", "compilers", "advice"])
def test_a_benchmark_is_as_right_as_each_of_its_lines(part):
    assert bench_of(part, (Right(True), Right(True))).right
    assert not bench_of(part, (Right(True), Right(False))).right
    assert not bench_of(part, (Right(False), Right(True))).right


@pytest.mark.parametrize("part", ["nonlinear", "speed"])
def test_a_benchmark_is_as_right_as_each_of_its_parts(part):
    assert bench_of(part, Right(True)).right
    assert not bench_of(part, Right(False)).right
