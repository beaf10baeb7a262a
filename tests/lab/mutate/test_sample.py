"""What is told about a sample: who caught what, and what nobody could."""

import pytest

from celosia.lab.mutate import campaign
from celosia.lab.mutate.campaign import Campaign, trial_lanes
from celosia.lab.mutate.equivalents import Equivalent
from celosia.lab.mutate.generate import draw
from celosia.lab.mutate.sample import MutationSample, outcomes_table, survivors, try_sample
from celosia.lab.mutate.trial import GENERATED, Ended, Trial
from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from tests.support.documents import validate

CHANGES = draw("isa/address.py", 4, 1, checkout_root())
ENDS = (Ended.FAILED, Ended.PASSED, Ended.KILLED, Ended.FAILED)


@pytest.fixture
def tried(monkeypatch):
    """The names of the faults that are tried; each ends as `ENDS` says."""
    names = []
    ends = {change.fault.name: end for change, end in zip(CHANGES, ENDS, strict=True)}

    def trial(fault, root, rules, running):
        assert rules == GENERATED
        names.append(fault.name)
        ended = ends.get(fault.name, Ended.PASSED)
        caught = " ".join(fault.tests) if ended is Ended.FAILED else ""
        return Trial(fault.name, fault.title, caught, 1.0, ended)

    monkeypatch.setattr(campaign, "try_fault", trial)
    return names


def sample(place, fresh=False):
    equivalents = [Equivalent(CHANGES[3].fault.edit, "it is")]
    with trial_lanes("local:1") as lanes:
        return try_sample(CHANGES, equivalents, Campaign(place, fresh, GENERATED), lanes, silent)


def test_every_change_has_an_outcome(tmp_path, tried):
    outcomes = sample(tmp_path)
    assert [each.result for each in outcomes] == ["caught", "survived", "killed", "equivalent"]
    assert [each.change for each in survivors(outcomes)] == [CHANGES[1], CHANGES[2]]
    assert outcomes_table(outcomes).row_count == 3
    document = MutationSample("isa/address.py", 1, outcomes).document()
    validate(document)
    assert {key: document[key] for key in ("changes", "caught", "survived")} == {
        "changes": 4,
        "caught": 1,
        "survived": 1,
    }
    assert document["outcomes"][2]["ended"] == Ended.KILLED
    assert document["outcomes"][3]["reason"] == "it is"
    assert document["outcomes"][0]["change"] == CHANGES[0].fault.edit.change


def test_the_tests_pass_first_without_a_change_and_nothing_is_tried_twice(tmp_path, tried):
    sample(tmp_path)
    assert tried[0].startswith("without a change: tests/")
    assert tried[1:] == [change.fault.name for change in CHANGES[:3]]
    sample(tmp_path)
    assert len(tried) == 4


def test_tests_that_fail_anyway_are_an_error(tmp_path, monkeypatch):
    def fails(fault, **_):
        return Trial(fault.name, fault.title, "tests/a.py", 1.0, Ended.FAILED, "tests/a.py::b")

    monkeypatch.setattr(campaign, "try_fault", fails)
    with pytest.raises(InputError, match=r"without a change: .*: failed tests/a.py::b"):
        sample(tmp_path)
