"""Candidates, fronts and gains, on numbers that are known."""

import pytest

from celosia.lab.nas.models.candidates import Amount, Candidate, Judge, advantage, best, front, gain
from celosia.lab.nas.models.costs import Cost, Costs
from celosia.lab.nas.models.space import Space
from celosia.sim.export.silicon.energy.table import parse_table

SPACE = Space(depths=(1, 2), widths=(32,), heads=(2,), hidden=(32, 64))


def candidate(perplexity, cycles, pj):
    return Candidate(SPACE.largest, perplexity, {"step": Amount(cycles, pj)})


LARGEST = candidate(20.0, 1000, 50)
GOOD = candidate(20.08, 500, 25)
CHEAP = candidate(20.89, 250, 40)
BAD = candidate(30.0, 400, 60)


def test_the_front_has_what_no_other_beats():
    def by(metric):
        return lambda each: each.amounts["step"].by(metric)

    assert front([LARGEST, GOOD, BAD, CHEAP], by("cycles")) == [CHEAP, GOOD, LARGEST]
    assert front([BAD, GOOD], by("energy")) == [GOOD]


def test_the_best_keeps_the_loss():
    found = [GOOD, CHEAP, BAD]
    assert best(found, LARGEST, "step", "cycles", 0.0045) is GOOD
    assert best(found, LARGEST, "step", "cycles", 0.045) is CHEAP
    assert best(found, LARGEST, "step", "energy", 0.045) is GOOD
    assert best(found, LARGEST, "step", "EDP", 0.045) is CHEAP
    assert best([BAD], LARGEST, "step", "cycles", 0.045) is LARGEST


def test_gains_are_of_the_largest():
    assert gain(GOOD, LARGEST, "step", "cycles") == 2
    assert gain(GOOD, LARGEST, "step", "EDP") == 4
    assert advantage([GOOD], [BAD], LARGEST, "step") == pytest.approx((2 * 2 * 4) ** (1 / 3))
    assert advantage([BAD], [GOOD], LARGEST, "step") == pytest.approx((2 * 2 * 4) ** (-1 / 3))


def test_a_judge_scores_each_model_once():
    cost = Cost(10, {"mac": 3, "bus_read_byte": 2})
    costs = Costs(
        {(name, 32, layer): cost for name in ("prefill", "step") for layer in SPACE.layers},
        {(name, 32): Cost(1, {"mac": 1, "bus_read_byte": 0}) for name in ("prefill", "step")},
    )
    table = parse_table('name = "t"\n[mac]\npj = 2.0\nsource = "s"\n', "t")
    asked = []
    judge = Judge(costs, table, lambda model: asked.append(model) or 7.0)
    found = judge(SPACE.largest)
    assert judge(SPACE.largest) is found
    assert len(asked) == 1
    # Two layers of 10 cycles and 3 products, and 1 of each beside them; bytes are not in the table.
    assert found.amounts["step"] == Amount(21, 14.0)
    assert found.perplexity == 7.0
