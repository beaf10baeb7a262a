"""Energies of events out of energies of cycles."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from celosia.sim.export.silicon.power.fit import IDLE, Window, fit

BLOCK = 32
"""Cycles that are taken together, as the table's document says."""


def window(seed: int, idle: float = 5.0) -> Window:
    draw = np.random.default_rng(seed)
    events: dict[str, NDArray[np.floating[Any]]] = {
        "a": (draw.random(40 * 16) < np.repeat(draw.random(40), 16)) * 1.0,
        "b": (draw.random(40 * 16) < np.repeat(draw.random(40), 16)) * 4.0,
    }
    spent = 3.0 * events["a"] + 0.5 * events["b"]
    return Window(events, spent + idle)


def test_energies_are_found():
    assert fit([window(1)], ["a", "b"]) == pytest.approx({"a": 3.0, "b": 0.5, IDLE: 5.0})


def test_what_pipelines_spend_later():
    # Spent in the cycle of the event and in the seven behind it.
    whole = window(1, idle=0.0)
    late = np.convolve(whole.pj, np.full(8, 1 / 8))[: len(whole.pj)] + 5.0
    found = fit([Window(whole.events, late)], ["a", "b"], stages=8)
    assert found == pytest.approx({"a": 3.0, "b": 0.5, IDLE: 5.0})


def test_what_surrounds_events_is_not_what_an_idle_cycle_takes():
    """Where nothing happens long enough, that alone tells what a cycle takes."""
    busy = window(1)
    restless = np.concatenate([busy.pj + 2.0, np.full(8 * BLOCK, 5.0)])
    events = {name: np.append(each, np.zeros(8 * BLOCK)) for name, each in busy.events.items()}
    found = fit([Window(events, restless)], ["a", "b"])
    assert found[IDLE] == pytest.approx(5.0)
    total = sum(found[name] * events[name].sum() for name in events)
    assert total + 5.0 * len(restless) == pytest.approx(restless.sum())
    # With a block less of that, the two cannot be told apart.
    fewer = fit([Window({n: e[:-BLOCK] for n, e in events.items()}, restless[:-BLOCK])], ["a", "b"])
    assert fewer[IDLE] > 5.1


def test_what_did_not_happen_is_not_there():
    whole = window(1)
    events = {**whole.events, "c": np.zeros(40 * 16)}
    assert fit([Window(events, whole.pj)], ["a", "b", "c"]).keys() == {"a", "b", IDLE}


def test_none_is_negative_and_the_sum_is_what_was_spent():
    falling = window(3, idle=0.0)
    spent = 10.0 - 0.5 * falling.events["b"]
    found = fit([Window(falling.events, spent)], ["a", "b"])
    assert min(found.values()) >= 0.0
    assert found["b"] == 0.0
    cycles = len(spent)
    total = found["a"] * falling.events["a"].sum() + found[IDLE] * cycles
    assert total == pytest.approx(spent.sum())


def test_nothing_spent():
    quiet = window(1)
    found = fit([Window(quiet.events, np.zeros(40 * 16))], ["a"])
    assert found == pytest.approx({"a": 0.0, IDLE: 0.0})
