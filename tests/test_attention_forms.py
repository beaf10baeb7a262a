"""What `benchmarks/attention_forms.py` measures, and what it says of it."""

import runpy
from pathlib import Path

import pytest

from celosia.sw.planning.choices import DEFAULT

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "attention_forms.py"))
CASE = SCRIPT["FormsCase"]


def test_there_are_cases_of_each_length_head_count_mask_and_accumulator():
    cases = SCRIPT["CASES"]
    assert len(cases) == len(set(cases)) == 4 * 4 * 3 * 2
    assert {case.seq for case in cases} == {512, 1024, 2048, 4096}


def test_effort_is_what_the_array_takes_for_the_heads_that_run():
    """Both products of a head of 64 are 512 x 512 x 64, 256 of whose MACs are a cycle."""
    alone = 2 * 512 * 512 * 64 // 256
    for heads, runs in ((1, 1), (2, 2), (12, 3)):
        case = CASE(accumulator_kib=64, seq=512, heads=heads, causal=False)
        assert case.effort == runs * alone
    assert CASE(accumulator_kib=64, seq=512, heads=1, causal=True).effort == alone // 2


def test_forms_that_decide_the_same_are_one(monkeypatch):
    """All scores of 64 rows of 128 keys are in half of 64 KiB: the rule has them at once."""
    monkeypatch.setitem(SCRIPT["table"].__globals__, "choose", lambda graph, config, _: DEFAULT)
    ways = CASE(accumulator_kib=64, seq=128, heads=1, causal=False).ways
    assert ways["as chosen"] == DEFAULT
    assert ways.keys() & {"as by rule", "at once"} == set()
    assert not ways["twice"].whole_scores


def test_twelve_heads_are_two_and_ten_times_what_a_third_adds(monkeypatch):
    case = CASE(accumulator_kib=64, seq=512, heads=12, causal=False)
    ran = []

    def run(self, heads, choices):
        ran.append(heads)
        return 100 + 7 * heads, 50 + 9 * heads

    monkeypatch.setattr(CASE, "_run", run)
    monkeypatch.setattr(CASE, "ways", {"as chosen": "these"})
    assert case.measured() == {
        "forms": {"as chosen": {"choices": "these", "predicted": 184, "cycles": 158}}
    }
    assert ran == [2, 3]


def line(seq, **cycles):
    forms = {name.replace("_", " "): {"predicted": 110, "cycles": n} for name, n in cycles.items()}
    return {"accumulator_kib": 64, "seq": seq, "heads": 1, "causal": False, "forms": forms}


def test_a_choice_within_one_percent_of_the_best_is_no_miss():
    lines = [line(1024, as_chosen=102, twice=100), line(512, as_chosen=101, at_once=100)]
    _, first, second, summary = SCRIPT["table"](lines)
    assert first.split()[:7] == ["64", "512", "1", "no", "101", "100", "1.010"]
    assert second.split()[:7] == ["64", "1024", "1", "no", "102", "100", "1.020"]
    assert "twice +10.0%" in second
    assert summary.startswith("2 of 96 cases; the chosen form takes over 1.01 times the best in 1;")
    assert "by 10.00% at most" in summary


@pytest.mark.nightly
def test_a_small_case_runs_on_the_rtl_in_each_form():
    found = CASE(accumulator_kib=64, seq=80, heads=1, causal=True).measured()["forms"]
    assert len(found) > 1
    for each in found.values():
        assert each["cycles"] == pytest.approx(each["predicted"], rel=0.1)
