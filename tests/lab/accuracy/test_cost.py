"""Errors of the cost model, with runs that are made up, and a few of the RTL."""

import json

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.lab.accuracy.cost import (
    OPERATORS,
    RANDOM,
    CostLine,
    CostSet,
    ErrorBounds,
    cost_line,
    measure_case,
    run_operators,
    run_random,
)
from celosia.lab.accuracy.cost_cases import CostCase, operator_cases, random_cases
from celosia.lab.bench.line import Lines
from celosia.lab.bench.suite import Bench
from celosia.lab.bench.tables import cost_table
from celosia.sim.run.origin import as_json
from celosia.sim.run.report import Measurement
from celosia.sim.support.progress import silent
from tests.support.documents import validate

BOUNDS = ErrorBounds(mean=0.02, worst=0.05)


def cost_set(*errors, right=True):
    lines = [CostLine("x", round(1000 * (1 + error)), 1000, right) for error in errors]
    return CostSet("made up", BOUNDS, tuple(lines))


def test_bounds_are_of_the_mean_and_of_the_worst():
    assert cost_set(0.019, -0.02).right
    assert not cost_set(0.03, -0.02).right
    assert cost_set(0.049, 0.0, 0.0, 0.0).right
    assert not cost_set(0.051, 0.0, 0.0, 0.0).right
    assert not cost_set(-0.051, 0.0, 0.0, 0.0).right


def test_wrong_results_and_unknown_cycles_are_failures():
    assert not cost_set(0.0, right=False).right
    assert not CostSet("none", BOUNDS, ()).right
    unknown = CostSet("stopped", BOUNDS, (CostLine("x", 1000, None, right=True),))
    assert not unknown.right
    assert unknown.mean is None


def test_random_cases_are_measured_one_by_one():
    cases = random_cases(3)
    found = run_random(silent, lambda case, _tell: made_up(), cases)
    assert [line.name for line in found.lines] == [case.name for case in cases]
    assert found.bounds == RANDOM
    assert found.right


def test_single_operators_have_bounds_of_their_own():
    cases = operator_cases()[:3]
    found = run_operators(silent, lambda case, _tell: made_up(), cases)
    assert [line.name for line in found.lines] == [case.name for case in cases]
    assert found.bounds == OPERATORS == ErrorBounds(mean=0.02, worst=0.10)


def test_rows_of_results_that_are_wider_than_their_sources_take_longer():
    """An int16 result of dim elements is two local rows, and a step has one in a cycle."""
    timing = MemoryTiming(bytes_per_cycle=4)
    narrow, wide = (
        measure_case(
            CostCase(kind="softmax", preset="tiny", timing=timing, sizes=(12, 160), form=(kind,)),
            silent,
        )
        for kind in ("uint8", "int16")
    )
    for each in (narrow, wide):
        assert each.right
        error = cost_line("softmax", each).error
        assert error is not None
        assert abs(error) <= 0.04
    assert (wide.cycles or 0) > (narrow.cycles or 0)


def made_up():
    return Measurement(name="x", cycles=100, predicted_cycles=101, mismatches=0, elements_checked=1)


def test_the_document_and_the_table_say_it():
    far, near = cost_set(0.03), cost_set(0.0)
    bench = Bench(parts={"cost": Lines((far, near))})
    assert not bench.right
    document = json.loads(as_json(bench.document()))
    validate(document)
    assert document["cost"][0]["mean_error"] == pytest.approx(0.03)
    assert cost_table(far).row_count == 3


@pytest.mark.parametrize(
    ("kind", "sizes", "form"),
    [
        ("matmul", (33, 21, 40), (False, 0.01, True)),
        ("attention", (2, 20, 8), ()),
        ("encoder-layer", (2, 8, 2, 1, 11, 6), ()),
        ("layernorm", (9, 40), ()),
        ("softmax", (16, 96), ("int16",)),
        ("gelu", (16, 40), ("int8",)),
    ],
)
def test_small_work_takes_about_what_is_predicted(kind, sizes, form):
    timing = MemoryTiming(latency=30, bytes_per_cycle=4)
    case = CostCase(kind=kind, preset="tiny", timing=timing, sizes=sizes, form=form)
    line = cost_line(case.name, measure_case(case, silent))
    assert line.right
    assert line.error is not None
    assert abs(line.error) <= RANDOM.worst
