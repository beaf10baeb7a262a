"""Whether a document is a report: what JSON may hold, and the message that says the most."""

import copy

import pytest

from celosia.sim.reporting.run_schema import ReportProblem, check_report, parse_json


def test_whole_numbers_have_up_to_18_digits():
    most = int("9" * 18)
    assert parse_json(f"[{most}, -{most}, 0]") == [most, -most, 0]
    for text in (f"{most + 1}", f"-{most + 1}"):
        with pytest.raises(ValueError, match=f"number {text}: has over 18 digits"):
            parse_json(text)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_numbers_are_finite(text):
    with pytest.raises(ValueError, match=f"number {text}: is not finite"):
        parse_json(f'{{"x": {text}}}')
    assert parse_json("1e308") == 1e308


def problem(document) -> str:
    with pytest.raises(ReportProblem) as raised:
        check_report(document, "run")
    return str(raised.value)


def test_a_whole_number_is_no_float_and_no_truth(document):
    check_report(document, "run")
    for wrong in (1.0, True):
        changed = copy.deepcopy(document)
        changed["cycles"] = wrong
        assert problem(changed).startswith("$.cycles: ")
        assert repr(wrong) in problem(changed)


def test_a_property_that_breaks_a_rule_of_its_own_is_named_by_that(document):
    changed = copy.deepcopy(document)
    changed["operators"][0]["macs"] = -1
    assert problem(changed).startswith("$.operators[0].macs: -1 ")


def test_a_property_that_there_is_not_is_named(document):
    assert "'more' " in problem({**document, "more": 1})


@pytest.mark.parametrize(("length", "whole"), [(58, True), (59, False), (500, False)])
def test_a_long_value_is_cut_short(document, length, whole):
    """With its quotes, a text of 58 characters is 60."""
    changed = copy.deepcopy(document)
    changed["operators"][0]["macs"] = "x" * length
    said = problem(changed)
    assert said.startswith("$.operators[0].macs: 'xxx")
    assert (f"'{'x' * length}'" in said) is whole
    assert ("..." in said) is not whole
    assert len(said) < 150


def test_facts_are_checked_behind_the_form(document):
    changed = copy.deepcopy(document)
    changed["operators"][0]["macs"] += 1
    assert problem(changed).startswith("$.operators[0].problem: 13x9x10 are ")
