"""Runs that were stopped: what ran until then is reported, and what stood in the way."""

import copy
import json
from pathlib import Path

import pytest

from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.events import TABLES
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.stopped import blamed, unfinished, until_stopped
from celosia.sim.reporting.explain import explain
from celosia.sim.reporting.page.page import page
from celosia.sim.reporting.trace import trace
from tests.support.command_line import refused, right, valid
from tests.support.reported_runs import BUDGET

WAITING = [
    "load waits for token 3: 0 of 1 stores have finished",
    "execute (1 queued) waits for load",
    "store (1 queued) waits for execute",
]
BLOCKED = 11
"""The load that waits: its number, with the loop before it expanded."""


@pytest.fixture(scope="module")
def stored(stuck):
    return Profile.from_document(stuck["profile"])


def test_what_ran_until_then_is_in_the_document(stuck):
    valid(json.dumps(stuck))
    assert stuck["status"] == "stopped"
    assert (stuck["cycles"], stuck["counters"], stuck["mac_utilization"]) == (None, {}, None)
    counted = stuck["until_stopped"]
    assert BUDGET < counted["cycles"] <= BUDGET + 2
    for unit in TABLES:
        assert sum(counted[owner.name] for owner in unit.owners) == counted["cycles"]
    assert counted["wait_token"] > BUDGET / 2
    assert counted["array_rows"] == 4


def test_it_says_who_waits_for_whom_and_which_commands_came_last(stuck):
    (part,) = stuck["operators"]
    failure = part["failure"]
    assert failure["cause"] == "CYCLE_BUDGET"
    assert failure["waiting"] == WAITING
    last = {each["command"]: each["text"] for each in failure["last_commands"]}
    assert [*last] == [*range(7, 15)]
    assert last[BLOCKED].startswith("mvin dram=0x80001020")
    assert "entry" in last[BLOCKED]  # A loop is before it.


def test_operations_are_numbered_as_their_commands_are_issued(stored):
    assert stored.queues["load"].command.tolist() == [3, 4, 5, 6, 7, BLOCKED]
    assert stored.queues["execute"].command.tolist() == [9, 13]


def test_operations_that_were_not_done_are_named(stored):
    found = {row[0]: row for row in unfinished(stored, 3)}
    assert [*found] == [BLOCKED, 13, 14]
    _, operator, unit, state, since, text = found[BLOCKED]
    assert (operator, unit, state) == ("stuck.cel", "DMA read", "waits")
    assert 0 < int(since) < stored.cycles
    assert str(text).startswith("mvin dram=0x80001020")


def test_only_who_breaks_a_rule_is_to_blame(stuck):
    failure = stuck["failure"]
    assert blamed(failure) is None
    assert blamed({**failure, "cause": "SHAPE", "command": 5}) == 5


def test_it_is_explained(stuck):
    told = str(explain(stuck))
    assert f"ran for {stuck['until_stopped']['cycles']} cycles, and was stopped" in told
    assert "CYCLE_BUDGET" in told
    assert WAITING[0] in told
    assert f"{BLOCKED}: mvin dram=0x80001020" in told
    assert "1. " in told
    assert "wait_token" in told
    assert "save" not in told


def test_nothing_is_explained_of_what_was_not_counted(stuck):
    silent = copy.deepcopy(stuck)
    for part in (silent, *silent["operators"]):
        part["until_stopped"] = None
    assert "before anything was counted" in str(explain(silent))
    assert until_stopped({"status": "right"}) == {"status": "right"}


def test_the_page_begins_with_why(stuck):
    text = page(stuck)
    assert text.index('id="stopped"') < text.index('id="summary"')
    for clause in WAITING:
        assert clause in text
    assert "Operations that were not done" in text
    assert 'id="figure-timeline"' in text
    assert 'id="figure-utilization"' not in text
    without = page({**stuck, "profile": None})
    assert "Who waited for whom" in without


def test_a_trace_shows_what_waits_until_the_end(stuck, stored):
    perfetto = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    read = perfetto.Trace()
    read.ParseFromString(trace(stored, AcceleratorConfig(**stuck["config"])))
    assert max(packet.timestamp for packet in read.packet) >= stored.cycles


def test_commands_take_it_but_for_a_comparison(stuck, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("RUN.json").write_text(json.dumps(stuck))
    assert "CYCLE_BUDGET" in right("explain", "RUN.json").stdout
    assert "compute_preloaded" in right("top", "RUN.json").stdout
    assert "mvin dram=0x80001020" in right("asm", "--annotate", "RUN.json").stdout
    refused("it was stopped", "compare", "RUN.json", "RUN.json")
