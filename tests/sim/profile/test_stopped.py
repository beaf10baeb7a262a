"""Runs that were stopped: what ran until then is reported, and what stood in the way."""

import copy
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import FLUSH
from celosia.isa.registers.events import TABLES
from celosia.sim.profile.log import NEVER
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.stopped import blamed, unfinished, until_stopped
from celosia.sim.reporting.explain import explain
from celosia.sim.reporting.page.page import page
from celosia.sim.reporting.trace import trace
from tests.sim.profile.test_instructions import operations, profile_of
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


def test_of_a_part_of_a_run_nothing_is_said_that_is_of_the_whole():
    counted = {"cycles": 70, "read_bytes": 12, "write_bytes": 8}
    whole = {"mac_utilization": 1, "limit": {}, "least_traffic": {}, "problem": {}, "macs": 9}
    part = {"workload": "x", "predicted_cycles": 5, "until_stopped": counted, **whole}
    document = {"status": "stopped", "operators": [part], "changes": [1], **part}
    found = until_stopped(document)
    assert found["changes"] == []
    for each in (found, *found["operators"]):
        assert {
            each[name] for name in ("mac_utilization", "limit", "least_traffic", "problem")
        } == {None}
        assert (each["predicted_cycles"], each["macs"], each["cycles"]) == (None, 0, 70)
        assert (each["dram_read_bytes"], each["dram_write_bytes"]) == (12, 8)
    other = {**part, "until_stopped": None}
    assert until_stopped({**document, "operators": [other]})["operators"] == [other]


def test_what_runs_is_told_since_it_started_and_what_waits_since_it_came():
    load = operations(
        # command, entered, started, began, read, done
        (0, 0, 3, NEVER, NEVER, 8),
        (1, 1, 5, NEVER, NEVER, NEVER),
        (2, 2, NEVER, NEVER, NEVER, NEVER),
        (3, 4, NEVER, NEVER, NEVER, NEVER),
    )
    profile = replace(
        profile_of(load=load),
        commands=(FLUSH.encode(),) * 4,
        operators=("x",),
        operator=np.zeros(4, np.int64),
    )
    assert unfinished(profile, 2) == [
        (1, "x", "DMA read", "runs", 5, "flush"),
        (2, "x", "DMA read", "waits", 2, "flush"),
    ]
