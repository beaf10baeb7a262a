"""Fuzzing: cases, coverage, shrinking, campaigns that go on, and the command."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from celosia.isa.encoding import FENCE, FLUSH, MVOUT
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.fuzz import batches, campaign
from celosia.lab.fuzz import case as fuzz_case
from celosia.lab.fuzz.campaign import fuzz
from celosia.lab.fuzz.case import difference, draw_case, replay_command, replay_file
from celosia.lab.fuzz.coverage import all_points, owner_points, points
from celosia.lab.fuzz.findings import Batch, Findings, Plan
from celosia.lab.fuzz.programs.programs import random_program, random_recipe
from celosia.lab.fuzz.shrink import shrink
from celosia.sim.support.progress import silent
from celosia.sim.support.workers import Lane
from celosia.sw.driver.program_file import parse_program
from tests.support.command_line import refused, right, valid

TINY = resolve_config("tiny")
PLAN = Plan(preset="tiny", overrides=(), simulator="verilator", seconds=1, seed=3, place=".")


def test_a_recipe_without_some_commands_is_legal_and_agrees_with_itself():
    case = draw_case(7, "tiny", ())
    half = case.without(list(range(0, len(case.recipe.middle), 2)))
    assert difference(half, half.recipe.program(), "functional") == ""


def test_a_difference_has_the_number_of_its_bytes_and_the_first(monkeypatch):
    memories = iter([(bytes(range(8)), ""), (bytes([0, 1, 2, 9, 4, 9, 6, 7]), "")])
    monkeypatch.setattr(fuzz_case, "_run", lambda *_: next(memories))
    case = draw_case(7, "tiny", ())
    told = difference(case, case.recipe.program(), "verilator")
    assert told == f"2 bytes differ, the first at {MEMORY_BASE + 3:#x}: 0x09, not 0x03"


def test_a_recipe_makes_the_program_that_it_was_drawn_as():
    recipe = random_recipe(5, length=20)
    assert recipe.program() == random_program(5, length=20)


def test_the_same_seed_is_the_same_case():
    assert draw_case(9, "tiny", ()) == draw_case(9, "tiny", ())


def test_a_replay_checks_all_of_memory_and_says_how_to_run_it():
    case = draw_case(4, "tiny", ())
    text = replay_file(case, "f.cel", "verilator", "wrong")
    program = parse_program(text)
    assert program.commands == case.recipe.program().commands
    assert [check.size for check in program.checks] == [program.memory_bytes]
    assert text.splitlines()[1].startswith("# celosia run f.cel --sim verilator")


def test_the_command_of_a_replay_can_be_run(tmp_path):
    case = draw_case(4, "tiny", ())
    stalls = (("r", 90), ("aw", 20))
    timing = MemoryTiming(channel_stalls=stalls, reorder=True, ready_after_valid=True)
    case, path = replace(case, timing=timing), tmp_path / "f.cel"
    path.write_text(replay_file(case, str(path), "functional", "wrong"))
    command = replay_command(case, str(path), "functional").split()
    document = valid(right(*command[1:], "--json", "-").stdout)
    assert document["memory"]["channel_stalls"] == {"r": 90, "aw": 20}


@pytest.mark.parametrize("most", [0, 1, 7])
def test_shrinking_tries_as_often_as_it_may(most):
    case, tried = draw_case(0, "tiny", ()), []
    assert shrink(case, lambda c: tried.append(c) is not None, most) == case
    assert len(tried) == most


def test_shrinking_keeps_the_commands_that_matter_and_a_plain_memory():
    case = draw_case(11, "tiny", ())
    case = replace(case, timing=replace(case.timing, stall_percent=60))
    culprit = next(c for c in case.recipe.middle if MVOUT.matches(c[0]))
    small = shrink(case, lambda c: culprit in c.recipe.middle)
    assert small.recipe.middle == (culprit,)
    assert small.timing.stall_percent == MemoryTiming().stall_percent


PLAIN = {"stall_percent": 0, "channel_stalls": (), "reorder": False, "ready_after_valid": False}
DIFFICULT = {
    "stall_percent": 60,
    "channel_stalls": (("r", 90),),
    "reorder": True,
    "ready_after_valid": True,
}
"""What makes a memory difficult, and without."""


def difficulties(case):
    return {"issue": case.issue} | {name: getattr(case.timing, name) for name in PLAIN}


@pytest.mark.parametrize("needed", [*PLAIN, "issue"])
def test_shrinking_leaves_only_the_difficulty_that_matters(needed):
    case = draw_case(11, "tiny", ())
    case = replace(case, issue="ring", timing=replace(case.timing, **DIFFICULT))
    hard, plain = difficulties(case), {"issue": "stream"} | PLAIN
    small = shrink(case, lambda other: difficulties(other)[needed] == hard[needed])
    assert difficulties(small) == plain | {needed: hard[needed]}
    assert not small.recipe.middle


def test_shrinking_ends_in_time():
    case = draw_case(11, "tiny", ())
    assert shrink(case, lambda _: True, seconds=0) == case


def test_conflicts_are_told_by_kind_and_queues():
    found = points(random_program(2, length=40).commands, TINY)
    assert set(found) <= all_points(TINY)
    assert found["hazard raw load store"] > 0
    assert points([FENCE.encode(), FLUSH.encode()], TINY) == {
        "instruction fence": 1,
        "instruction flush": 1,
    }


def test_a_campaign_goes_on_where_it_was(tmp_path):
    state = tmp_path / "state.json"
    before = Findings(cases=40, batches=2, seconds=0.5, failures=[("a", "b")])
    campaign._keep(PLAN, state, before)
    assert campaign._resume(PLAN, state) == before
    assert campaign._resume(replace(PLAN, seed=4), state) == Findings()
    state.write_text(state.read_text()[:-9])
    assert campaign._resume(PLAN, state) == Findings()


def test_a_batch_writes_what_fails_as_a_program(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 1)
    monkeypatch.setattr(batches, "difference", lambda *_: "it differs")
    found = batches.run_batch(replace(PLAN, place=str(tmp_path)), 0)
    ((name, why),) = found.found.failures
    assert why == "it differs"
    assert found.files[name] == (tmp_path / name).read_text()
    assert parse_program((tmp_path / name).read_text()).preset == "tiny"


def test_a_campaign_ends_in_time_and_writes_what_workers_elsewhere_found(tmp_path, monkeypatch):
    def batch(_, number):
        return Batch(Findings(cases=20, batches=1), {str(tmp_path / f"{number}.cel"): "text"})

    monkeypatch.setattr(campaign, "run_batch", batch)
    lanes = (Lane(make=lambda: ThreadPoolExecutor(1)),)
    found = fuzz(replace(PLAN, seconds=0.2), tmp_path / "state", lanes, silent)
    assert found.batches == found.cases // 20 >= 1
    assert (tmp_path / "0.cel").read_text() == "text"
    assert not (tmp_path / "state").exists()


def test_a_batch_that_ends_its_workers_is_a_finding(tmp_path, monkeypatch):
    def batch(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(campaign, "run_batch", batch)
    lane = Lane(make=lambda: ThreadPoolExecutor(1), attempts=2, broken=(ZeroDivisionError,))
    found = fuzz(replace(PLAN, seconds=60), None, (lane,), silent)
    assert found.failures[0] == ("batch 0", "its worker ended 2 times")
    assert len(found.failures) == 5


def test_findings_add_up():
    found = Findings(cases=1, points={"a": 1})
    found.add(Findings(cases=2, batches=1, points={"a": 1, "b": 2}))
    assert found == Findings(cases=3, batches=1, points={"a": 2, "b": 2})
    assert json.loads(json.dumps(found.points)) == found.points


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("--sim functional", ["--sim", "functional"]),
        ("no directory", ["--out", "nowhere"]),
        ("no preset", ["--preset", "huge"]),
        ("--jobs", ["--jobs", "0"]),
        ("--executor far", ["--executor", "far"]),
        ("--seconds", ["--seconds", "0"]),
    ],
)
def test_wrong_arguments_of_fuzz(message, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(message, "fuzz", *words)


def test_owners_of_cycles_are_points():
    found = owner_points({"cycles": 9, "read_data": 4, "read_none": 5, "read_bank_load": 0})
    assert found == {"owner read_data": 1, "owner read_none": 1}
    assert set(found) <= all_points(TINY)
