"""Reports of segments as one: times and operators of all, and what is right only if all are."""

from dataclasses import replace
from typing import Any

import pytest

from celosia.sim.run.models.model_outcome import ModelOutcome, whole_report
from celosia.sim.run.report import Report
from tests.sim.run.test_report import FIRST, SETTING

ONE = Report(setting=SETTING, operators=(FIRST,), elapsed_seconds=1.5)


def test_the_report_of_the_only_segment_is_that_of_all():
    assert whole_report([ONE]) is ONE


def test_segments_are_operators_of_one_report():
    second = replace(ONE, operators=(replace(FIRST, name="second"),), elapsed_seconds=2.25)
    found = whole_report([ONE, second, ONE])
    assert found.elapsed_seconds == 5.25
    assert found.operators == (ONE.total, second.total, ONE.total)
    assert found.setting == SETTING
    assert found.rounded_scales is None
    assert found.whole is None


@pytest.mark.parametrize("wrong", [0, 1])
def test_a_run_is_right_if_all_of_its_segments_are(wrong):
    reports = [ONE, ONE]
    reports[wrong] = replace(ONE, operators=(replace(FIRST, mismatches=1, elements_checked=4),))
    good = replace(ONE, operators=(replace(FIRST, mismatches=0, elements_checked=4),))
    nothing: Any = None
    for given, right in ((reports, False), ([good, good], True)):
        outcome = ModelOutcome(
            given[0],
            reports=tuple(given),
            placement=nothing,
            distances=(),
            saturated=nothing,
            host=nothing,
            notes=(),
        )
        assert outcome.right is right
        assert outcome.workload == "two"
        assert outcome.memory_plans == []
