"""What is said of a run as a whole, or of why it was stopped, with numbers worked out by hand."""

from typing import Any

import pytest

from celosia.sim.profile.losses import Loss
from celosia.sim.profile.resources import ARRAY, RESOURCES
from celosia.sim.reporting import explain as explaining

ROWS = RESOURCES[ARRAY].owners[0].name


def run(**more: Any) -> dict[str, Any]:
    """16,000 products, of which an array of 4 x 4 takes 16 in a cycle."""
    return {
        "workload": "w",
        "simulator": "verilator",
        "status": "right",
        "cycles": 2000,
        "config": {"dim": 4},
        "counters": {ROWS: 1500},
        "macs": 16_000,
        "limit": {"cycles": 1200, "bound": "reads"},
        **more,
    }


def summary(lost: int = 480, **more: Any) -> str:
    return explaining._summary(run(**more), lost)


BEGIN = "In 1,500 of them (75.0%) a row entered the array; 480 (24.0%) were lost."
PRODUCTS = " The products alone would fill 1,000 cycles (50.0%)."
LIMIT = (
    " No program can take fewer than 1,200 cycles on this array and memory (bound by reads): "
    "800 could be saved at most."
)
STEP = " Weights, keys and values of the step come in 31.2% of its cycles, at the memory's rate."
BOUNDED = (
    " Memory is what limits it: only more bytes per cycle, or fewer bytes, make it shorter, "
    "whatever the array waits for."
)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({}, f"w took 2,000 cycles. {BEGIN}{PRODUCTS}{LIMIT}"),
        ({"macs": 0}, f"w took 2,000 cycles. {BEGIN}{LIMIT}"),
        ({"limit": None}, f"w took 2,000 cycles. {BEGIN}{PRODUCTS}"),
        (
            {"limit": None, "memory_limit_share": 0.312},
            f"w took 2,000 cycles. {BEGIN}{PRODUCTS}{STEP}",
        ),
        (
            {"status": "stopped", "limit": None, "macs": 0},
            f"w ran for 2,000 cycles, and was stopped. {BEGIN}",
        ),
        ({"cycles": None}, "w: there are no cycles to explain: the run was stopped before anything "
         "was counted."),
        ({"cycles": None, "simulator": "functional"},
         "w: there are no cycles to explain: the functional model has no clock."),
    ],
)  # fmt: skip
def test_a_run_is_told_in_cycles_and_shares_of_them(more, text):
    assert summary(**more) == text


@pytest.mark.parametrize(("least", "bound", "told"), [(1819, "reads", 1), (1818, "writes", 0)])
def test_memory_is_what_limits_a_run_of_a_tenth_more_than_its_limit(least, bound, told):
    """2,000 are less than 1,819 and a tenth, and more than 1,818 and a tenth."""
    limit = {"cycles": least, "bound": bound}
    assert summary(limit=limit).endswith(BOUNDED) == told


def test_no_more_losses_have_a_line_than_somebody_reads(monkeypatch):
    """Eight of ten that are alike have one; the others are added up."""
    found = [Loss("a", f"wait_{number}", 10) for number in range(10)]
    monkeypatch.setattr(explaining, "losses", lambda _: found)
    monkeypatch.setattr(explaining, "together", lambda document: document)
    monkeypatch.setattr(explaining, "clocked_operators", lambda _: [{"workload": "a"}])
    monkeypatch.setattr(explaining, "remedy", lambda loss, *_: f"help for {loss.owner}")
    monkeypatch.setattr(explaining, "what_if", lambda _: [])
    told = explaining.explain(run())
    assert [(loss.owner, share, help_) for loss, share, help_ in told.lines] == [
        (f"wait_{number}", 0.1, f"help for wait_{number}") for number in range(8)
    ]
    assert told.rest == 20
    assert str(told).endswith(
        "8. 10% of the loss, 10 cycles: a, wait_7. wait_7\n"
        "   help for wait_7\n"
        "The other losses are 20 cycles together."
    )


def test_a_stop_is_told_with_what_is_not_in_its_message_and_who_is_to_blame():
    failure = {
        "message": "SHAPE at command 7: load waits for store",
        "waiting": ["load waits for store", "store waits for memory", "no more"],
        "last_commands": [{"command": 6, "text": "mvin"}, {"command": 7, "text": "mvout"}],
        "cause": "SHAPE",
        "command": 7,
    }
    parts = [{"workload": "first", "failure": None}, {"workload": "second", "failure": failure}]
    document = run(operators=parts, failure=failure)
    assert list(explaining._stop(document)) == [
        "second was stopped: SHAPE at command 7: load waits for store",
        "Then: store waits for memory; no more.",
        "The last commands that were accepted:",
        "       6: mvin",
        "       7: mvout  <- to blame",
    ]
    nobody = failure | {"cause": "WATCHDOG", "waiting": failure["waiting"][:1]}
    document = run(operators=[], failure=nobody)
    assert list(explaining._stop(document)) == [
        "w was stopped: SHAPE at command 7: load waits for store",
        "The last commands that were accepted:",
        "       6: mvin",
        "       7: mvout",
    ]
