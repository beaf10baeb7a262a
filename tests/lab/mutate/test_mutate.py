"""Planted faults: patches, copies of the tree, campaigns, and the command."""

import pickle
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from celosia.lab.mutate import campaign
from celosia.lab.mutate.campaign import Campaign, trial_lanes
from celosia.lab.mutate.fault import plant
from celosia.lab.mutate.patch import parse_patch
from celosia.lab.mutate.planted import load_faults
from celosia.lab.mutate.trial import Ended, Rules, Trial, try_fault
from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.support.workers import Lane
from tests.support.command_line import refused

PATCH = """Fault: two is three
Caught-by: tests/a.py -k two
--- a/hw/a.py
+++ b/hw/a.py
@@ -1,3 +1,3 @@
 one
-two
+three
 four
"""
ROOT = checkout_root()


def tree(place: Path, text: str) -> Path:
    (place / "hw").mkdir()
    (place / "hw" / "a.py").write_text(text)
    return place


def test_a_patch_says_what_it_is_and_applies_where_its_lines_are(tmp_path):
    patch = parse_patch(PATCH, "p")
    assert (patch.title, patch.tests) == ("two is three", ("tests/a.py -k two",))
    plant(patch, tree(tmp_path, "zero\none\ntwo\nfour\n"))
    assert (tmp_path / "hw" / "a.py").read_text() == "zero\none\nthree\nfour\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\n", "changes no file"),
        (PATCH.replace("hw/a.py", "../a.py"), "not a file below"),
        (PATCH.split("@@", maxsplit=1)[0], "without a hunk"),
    ],
)
def test_what_is_no_patch(text, message):
    with pytest.raises(InputError, match=message):
        parse_patch(text, "p")


def test_a_patch_may_end_with_a_line_like_a_header():
    patch = parse_patch("--- a/hw/a.py\n+++ b/hw/a.py\n@@ -1 +1 @@\n--- x\n", "p")
    assert [each.path for each in patch.files] == ["hw/a.py"]


def test_a_patch_that_does_not_fit(tmp_path):
    with pytest.raises(InputError, match="has no lines"):
        plant(parse_patch(PATCH, "p"), tree(tmp_path, "one\n2\nfour\n"))
    with pytest.raises(InputError, match="there is no file"):
        plant(parse_patch(PATCH.replace("a.py", "b.py"), "p"), tmp_path)


@pytest.mark.parametrize(("line", "changed"), [(1, 0), (2, 0), (4, 2), (5, 4), (6, 4), (9, 6)])
def test_of_lines_that_are_alike_the_nearest_are_changed(line, changed, tmp_path):
    """Every other line is alike; with two as near, the first of them."""
    text = "same\nother\n" * 4
    patch = f"--- a/hw/a.py\n+++ b/hw/a.py\n@@ -{line} +{line} @@\n-same\n+new\n"
    (result,) = parse_patch(patch, "near").changed(tree(tmp_path, text)).values()
    lines = text.split("\n")
    lines[changed] = "new"
    assert result == "\n".join(lines)


def test_hunks_behind_one_that_adds_lines_are_where_these_have_moved_them(tmp_path):
    text = "same\nother\n" * 4
    hunks = "@@ -1 +1,3 @@\n-same\n+one\n+two\n+three\n@@ -5 +7 @@\n-same\n+new\n"
    patch = f"--- a/hw/a.py\n+++ b/hw/a.py\n{hunks}"
    (result,) = parse_patch(patch, "moved").changed(tree(tmp_path, text)).values()
    assert result == "one\ntwo\nthree\nother\nsame\nother\nnew\nother\nsame\nother\n"


def test_a_campaign_keeps_its_results(tmp_path, monkeypatch):
    tried = []

    def trial(fault, **_):
        tried.append(fault.name)
        return Trial(fault.name, fault.title, "a test", 1.0)

    monkeypatch.setattr(campaign, "try_fault", trial)
    fault = parse_patch(PATCH, "p")
    for fresh in (False, False, True):
        with trial_lanes("local:1") as lanes:
            (result,) = Campaign(tmp_path, fresh).run([fault], lanes, silent)
        assert result.caught_by == "a test"
    assert tried == ["p", "p"]


class Dying(ThreadPoolExecutor):
    """Workers that end with whatever they are given."""

    def submit(self, fn, /, *args, **kwargs):
        """A future that says so."""
        return super().submit(self._end)

    def _end(self):
        raise BrokenExecutor


def test_a_fault_that_ends_its_workers_is_caught_by_nobody_and_tried_again_later(tmp_path):
    fault = parse_patch(PATCH, "p")
    lane = Lane(make=lambda: Dying(1))
    (result,) = Campaign(tmp_path, fresh=False).run([fault], [lane], silent)
    assert (result.caught_by, result.ended) == ("", Ended.KILLED)
    assert not (tmp_path / "build").exists()


def test_a_fault_and_what_tries_it_can_be_sent_elsewhere(tmp_path):
    """Workers of a cluster are given both."""
    sent = []

    class Sending(ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):
            sent.append(pickle.loads(pickle.dumps((fn, *args))))
            return super().submit(lambda: ("", Trial("p", "", "a test", 1.0)))

    for fault in (parse_patch(PATCH, "p"), load_faults(ROOT)[0]):
        (result,) = Campaign(tmp_path, fresh=True).run(
            [fault], [Lane(make=lambda: Sending(1))], silent
        )
        assert result.caught_by == "a test"
        answer, item = sent.pop()
        (work,) = answer.args
        assert item == fault
        assert (work.func, work.keywords["root"]) == (try_fault, tmp_path)


def test_wrong_arguments_of_mutate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused("there is no fault", "mutate", "nonsense")
    refused("No such file", "mutate", "--patch", "nothing.patch")
    (tmp_path / "x.patch").write_text("hello")
    refused("changes no file", "mutate", "--patch", "x.patch")
    refused("not both", "mutate", "lib_queue", "--patch", "x.patch")
    (tmp_path / "y.patch").write_text(PATCH)
    refused("does not apply", "mutate", "--patch", "y.patch")
    refused("takes --package", "mutate", "--generate", "3")
    refused("neither faults nor", "mutate", "lib_queue", "--generate", "3", "--package", "sw")
    refused("--package tests", "mutate", "--generate", "3", "--package", "tests")
    refused("--package nonsense", "mutate", "--package", "nonsense")
    refused("none of these faults", "mutate", "lib_queue", "--package", "sw")
    refused("only --generate", "mutate", "lib_queue", "--json", "x.json")
    # Before anything else is looked at.
    refused("--executor here: write local:N", "mutate", "nonsense", "--executor", "here")


TESTS = """
import time, celosia.isa.tokens as tokens

def test_quick():
    assert tokens.VALUE == 1, "the simulation did not finish in 5 cycles"

def test_named():
    watchdog = tokens.VALUE
    assert watchdog == 1

def test_slow():
    while tokens.VALUE == 3:
        time.sleep(0.1)
"""

CONFTEST = """
from pathlib import Path

if "4" in Path("isa/tokens.py").read_text():
    raise ImportError("it cannot be loaded")
"""


@pytest.mark.parametrize(
    ("to", "test", "ended"),
    [
        ("VALUE = 1 + 0", "quick", Ended.PASSED),
        ("VALUE = 2", "quick", Ended.DEADLINE),
        ("VALUE = ", "quick", Ended.FAILED),
        ("VALUE = 4", "quick", Ended.FAILED),
        ("VALUE = 2", "named", Ended.FAILED),
        ("VALUE = 3", "slow", Ended.KILLED),
    ],
)
def test_how_the_tests_of_a_fault_end(to, test, ended, tmp_path):
    for name in ("isa", "hw", "sw", "sim", "lab", "tests"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    (tmp_path / "isa" / "tokens.py").write_text("VALUE = 1\n")
    (tmp_path / "tests" / "test_it.py").write_text(TESTS)
    (tmp_path / "tests" / "conftest.py").write_text(CONFTEST)
    lines = "--- a/isa/tokens.py\n+++ b/isa/tokens.py\n@@ -1 +1 @@\n-VALUE = 1\n+"
    patch = parse_patch(f"Caught-by: tests/test_it.py -k {test}\n{lines}{to}\n", "p")
    rules = Rules(marked=True, seconds=2 if ended is Ended.KILLED else 120)
    trial = try_fault(patch, tmp_path, rules, set())
    assert trial.ended == ended
    assert bool(trial.caught_by) == (ended in {Ended.FAILED, Ended.DEADLINE})
    if ended is Ended.DEADLINE:
        assert trial.test == "tests/test_it.py::test_quick"


@pytest.mark.nightly
def test_all_faults_are_caught(tmp_path):
    with trial_lanes("local:1") as lanes:
        trials = Campaign(ROOT, fresh=False).run(load_faults(ROOT), lanes, silent)
    assert [trial.name for trial in trials if not trial.caught_by] == []
