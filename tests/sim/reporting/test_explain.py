"""What limits a run, in words and figures."""

import copy
import re
from dataclasses import replace

import numpy as np
import pytest

from celosia.sim.profile.log import NEVER
from celosia.sim.profile.losses import Loss, losses
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.resources import ARRAY, RESOURCES
from celosia.sim.profile.whatif import FOLLOWED
from celosia.sim.reporting import explain as explaining
from celosia.sim.reporting.explain import explain
from celosia.sim.reporting.remedies import ADVICE, remedy


def test_losses_add_up_to_what_is_not_rows(document):
    rows = document["counters"][RESOURCES[ARRAY].owners[0].name]
    found = losses(document)
    assert sum(loss.cycles for loss in found) == document["counters"]["cycles"] - rows
    assert [loss.cycles for loss in found] == sorted((x.cycles for x in found), reverse=True)


def test_it_names_the_largest_loss_first_and_a_figure_for_each(document):
    told = explain(document)
    assert [loss for loss, *_ in told.lines] == losses(document)[: len(told.lines)]
    for loss, share, help_ in told.lines:
        assert 0 < share <= 1
        assert loss.meaning in str(told)
        assert re.search(r"\d", help_)
    text = str(told)
    assert f"{document['cycles']:,} cycles" in text
    assert f"{document['limit']['cycles']:,}" in text


@pytest.mark.parametrize(("largest", "lines", "rest"), [(95, 1, 5), (94, 2, 0)])
def test_losses_behind_95_percent_of_all_are_left_out(document, monkeypatch, largest, lines, rest):
    found = [Loss("matmul", "wait_issue", largest), Loss("matmul", "wait_fence", 100 - largest)]
    monkeypatch.setattr(explaining, "losses", lambda _document: found)
    told = explain(document)
    assert [loss for loss, *_ in told.lines] == found[:lines]
    assert told.rest == rest
    assert told.lines[0][1] == pytest.approx(largest / 100)


def test_it_names_the_place_if_instructions_were_followed(document):
    assert "before command" in str(explain(document))
    without = {**document, "profile": None}
    assert "before command" not in str(explain(without))


@pytest.mark.parametrize(
    ("owner", "advice"),
    [
        ("wait_load_bandwidth", "15.6 KiB loaded earlier or not at all save at most 1,000"),
        ("wait_load_latency", "15.6 KiB loaded earlier save at most 1,000 cycles"),
        ("wait_load_requests", "longer rows save at most 1,000"),
        ("wait_issue", "at most 1,000 cycles shorter"),
    ],
)
def test_what_would_help_depends_on_the_cause(document, owner, advice):
    """At 16 bytes per cycle."""
    config = {**document["config"], "bus_bits": 128}
    other = {**document, "profile": None, "config": config}
    loss = Loss("matmul", owner, 1000)
    assert advice in remedy(loss, document["operators"][0], other)


def test_advice_on_results_names_the_bytes_that_are_written(document):
    part = {"dram_write_bytes": 4_000, "dram_read_bytes": 70_000, "commands": 7, "cycles": 900}
    other = {**document, "profile": None, "config": {**document["config"], "bus_bits": 128}}
    text = remedy(Loss("matmul", "wait_accumulator", 1000), part, other)
    assert "4,000 bytes need 250 cycles of the bus" in text
    narrow = {**other, "memory": {**document["memory"], "bytes_per_cycle": 8}}
    assert "4,000 bytes need 500 cycles" in remedy(Loss("x", "wait_accumulator", 9), part, narrow)


def test_advice_names_sizes_of_the_run_that_it_is_about(document):
    """Each figure from the run: commands, cycles of each, latency, requests, depth of a queue."""
    config = {**document["config"], "read_requests": 5, "load_queue": 3, "dim": 4}
    memory = {**document["memory"], "latency": 77}
    other = {**document, "profile": None, "config": config, "memory": memory}
    part = {"commands": 1_200, "cycles": 1_500}
    for owner, words in {
        "wait_load_requests": "At a latency of 77, 5 requests in flight are too few",
        "wait_command": "Its 1,200 commands come every 1.2 cycles",
        "wait_queue_load": "behind a full queue of 3 wait",
        "array_weights": "Products of fewer than 4 rows",
        "drain": "77 cycles are the last response of memory; what is more (23)",
    }.items():
        text = remedy(Loss("matmul", owner, 100), part, other)
        assert words in text, owner
    early = remedy(Loss("matmul", "drain", 70), part, other)
    assert "what is more (0)" in early
    assert "1,000 commands come every 0.0 cycles" in remedy(
        Loss("matmul", "wait_command", 100), {"commands": 1_000, "cycles": None}, other
    )


def test_each_group_of_waits_that_occurs_has_advice_of_its_own_or_none():
    known = {owner.group for owner in RESOURCES[ARRAY].owners}
    known |= {owner.name for owner in RESOURCES[ARRAY].owners}
    assert set(ADVICE) <= known


def test_advice_comes_first_and_names_what_to_add_and_how_wrong_it_was(document):
    told = explain({**document, "predicted_cycles": document["cycles"]})
    assert told.changes
    text = str(told)
    first = told.changes[0]
    assert f"1. {first}" in text
    assert "; add --" in str(first)
    assert text.index(str(first)) < text.index(told.lines[0][2])
    assert str(FOLLOWED) in text
    assert str(FOLLOWED.runs) in str(FOLLOWED)


def test_if_nothing_helps_it_says_so(document):
    """A run that lost nothing."""
    stored = [{"what": "a wonder", "saved": 2, "before": 1000, "options": ["--set", "dim=8"]}]
    told = explain({**document, "changes": stored})
    assert told.changes == ()
    assert "No memory and no larger accelerator helps" in str(told)
    assert "a wonder" not in str(told)


def test_nothing_is_said_of_other_hardware_if_nobody_asked(document):
    graph = copy.deepcopy(document)
    graph["operators"][0]["problem"] = None
    told = explain(graph)
    assert told.changes is None
    assert "help" not in str(told)


def test_a_model_that_is_wrong_about_the_run_gives_no_advice(document):
    cycles = document["cycles"]
    large = [
        {"what": "a wonder", "saved": cycles // 2, "before": cycles, "options": ["--set", "x"]}
    ]
    for share, doubted in ((1.04, False), (1.06, True), (0.94, True)):
        told = explain({**document, "changes": large, "predicted_cycles": round(share * cycles)})
        assert bool(told.doubt) == doubted
        assert (told.changes is None) == doubted
        assert ("No advice about other hardware" in str(told)) == doubted


def test_it_says_what_was_measured_and_why_nobody_can_say(document):
    """How wrong expectations were is said only where something is expected."""
    wonder = {"what": "a wonder", "saved": 100, "before": 900, "options": []}
    run = {**document, "predicted_cycles": document["cycles"] + 10}
    told = explain({**run, "changes": [{**wonder, "measured": True}]})
    assert "What would help, as runs on RTL have shown:" in str(told)
    assert "a wonder: 100 cycles fewer (11.1%), measured" in str(told)
    assert str(FOLLOWED) not in str(told)
    told = explain({**run, "changes": [{**wonder, "saved": 29}]})
    assert told.changes is None
    assert "10 cycles from what it took, and expects no change to save 3 times that" in str(told)


def test_of_a_run_whose_products_never_began_no_place_is_named(document):
    stored = Profile.from_document(document["profile"])
    queue = stored.queues["execute"]
    queue = replace(queue, began=np.full_like(queue.began, NEVER))
    other = replace(stored, queues={**stored.queues, "execute": queue}).document()
    part, place = document["operators"][0], "The most at one place"
    found = losses(document)
    assert any(place in remedy(loss, part, document) for loss in found)
    stopped = {**document, "profile": other}
    assert not any(place in remedy(loss, part, stopped) for loss in found)


def test_only_the_model_says_what_other_hardware_saves(document):
    """The text on a loss gives no parameter a value, whatever the array waits for."""
    for owner in RESOURCES[ARRAY].owners[1:]:
        text = remedy(Loss("matmul", owner.name, 9), document["operators"][0], document)
        assert "=" not in text.split(" The most at one place")[0]


def test_what_memory_bounds_is_said_first(document):
    bound = {**document, "limit": {**document["limit"], "bound": "reads"}}
    assert "Memory is what limits it" not in explain(bound).summary
    bound["limit"]["cycles"] = document["cycles"] - 1
    assert "Memory is what limits it" in explain(bound).summary
    weights = Loss("matmul", "array_weights", 7)
    assert "cost nothing" in remedy(weights, document["operators"][0], bound)


def test_a_step_of_a_decoder_is_told_its_share_of_the_memorys_limit(document):
    assert "keys and values" not in str(explain(document))
    step = {**document, "memory_limit_share": 0.9765}
    assert "keys and values of the step come in 97.7% of its cycles" in str(explain(step))


def test_behind_the_last_product_no_queue_is_too_short(document):
    """A store that is queued when nothing is multiplied any more."""
    loss = Loss("matmul", "wait_queue_store", 9)  # The log has none before a product.
    text = remedy(loss, document["operators"][0], document)
    assert "behind the last product" in text
    assert "store_queue" not in text
    without = {**document, "profile": None}
    assert "full queue" in remedy(loss, document["operators"][0], without)


def test_a_run_without_a_clock_is_not_explained(document):
    without = {**document, "cycles": None, "simulator": "functional", "operators": []}
    assert "no clock" in explain(without).summary
