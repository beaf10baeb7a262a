"""What limits a run, in words and figures."""

import copy
import re

import pytest

from celosia.sim.profile.losses import Loss, losses
from celosia.sim.profile.resources import ARRAY, RESOURCES
from celosia.sim.profile.whatif import what_if
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


def test_it_names_the_place_if_instructions_were_followed(document):
    assert "before command" in str(explain(document))
    without = {**document, "profile": None}
    assert "before command" not in str(explain(without))


@pytest.mark.parametrize(
    ("owner", "advice"),
    [
        ("wait_load_bandwidth", "32, or 15.6 KiB loaded earlier or not at all, save up to 1,000"),
        ("wait_load_latency", "15.6 KiB loaded earlier save at most 1,000 cycles"),
        ("wait_load_requests", "read_requests=64"),
        ("wait_issue", "at most 1,000 cycles shorter"),
    ],
)
def test_what_would_help_depends_on_the_cause(document, owner, advice):
    """At 16 bytes per cycle."""
    config = {**document["config"], "bus_bits": 128}
    other = {**document, "profile": None, "config": config}
    loss = Loss("matmul", owner, 1000)
    assert advice in remedy(loss, document["operators"][0], other)


def test_each_group_of_waits_that_occurs_has_advice_of_its_own_or_none():
    known = {owner.group for owner in RESOURCES[ARRAY].owners}
    known |= {owner.name for owner in RESOURCES[ARRAY].owners}
    assert set(ADVICE) <= known


def test_the_cost_model_knows_what_would_help(document):
    changes = what_if(document)
    assert changes
    assert [change.saved for change in changes] == sorted(
        (change.saved for change in changes), reverse=True
    )
    assert any("latency" in change.what for change in changes)
    graph = copy.deepcopy(document)
    graph["operators"][0]["problem"] = None
    assert what_if(graph) == []


def test_nothing_saves_more_than_was_lost_for_its_cause(document):
    """The cost model's error may be larger than what is left to save."""
    counters = document["counters"]
    lost = sum(loss.cycles for loss in losses(document))
    queues = counters["wait_issue"] + counters["wait_command"]
    assert 0 < queues < lost
    for what, most in (("a wonder", lost), ("queues of gold", queues)):
        stored = {"what": what, "saved": 10 * lost, "before": document["cycles"]}
        (change,) = what_if({**document, "changes": [stored]})
        assert change.saved == most
        assert f"at most {most}" in str(change)


def test_what_memory_bounds_is_said_first(document):
    bound = {**document, "limit": {**document["limit"], "bound": "reads"}}
    assert "Memory is what limits it" not in explain(bound).summary
    bound["limit"]["cycles"] = document["cycles"] - 1
    assert "Memory is what limits it" in explain(bound).summary
    weights = Loss("matmul", "array_weights", 7)
    assert "cost nothing" in remedy(weights, document["operators"][0], bound)


def test_behind_the_last_product_no_queue_is_too_short(document):
    """A store that is queued when nothing is multiplied any more."""
    loss = Loss("matmul", "wait_queue_store", 9)  # The log has none before a product.
    text = remedy(loss, document["operators"][0], document)
    assert "behind the last product" in text
    assert "store_queue" not in text
    without = {**document, "profile": None}
    assert "store_queue=" in remedy(loss, document["operators"][0], without)


def test_a_run_without_a_clock_is_not_explained(document):
    without = {**document, "cycles": None, "simulator": "functional", "operators": []}
    assert "no clock" in explain(without).summary
