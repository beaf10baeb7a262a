"""Searches of a space whose best models are known."""

import pytest

from celosia.lab.nas.models import candidates
from celosia.lab.nas.models.candidates import Amount, Candidate, best, gain
from celosia.lab.nas.models.searches import EVOLUTION, RANDOM, SEARCHES, run_searches
from celosia.lab.nas.models.space import Space
from celosia.sim.support.progress import silent

SPACE = Space(
    depths=(4, 5, 6), widths=(32, 48, 64), heads=(2, 4), hidden=(32, 64, 96, 128, 160, 192)
)


class Judge(candidates.Judge):
    """Only the first layer's channels and the width matter for quality; all cost."""

    def __init__(self):
        self.scored = set()

    def __call__(self, model):
        self.scored.add(model)
        quality = 20 + (192 - model.layers[0].hidden) / 40 + (64 - model.width) / 10
        return Candidate(model, quality, {"step": self.amount(model, "step")})

    def amount(self, model, scenario):
        cycles = model.width * sum(each.hidden + 10 * each.heads for each in model.layers)
        return Amount(cycles, 2.0 * cycles)


@pytest.fixture(scope="module")
def found():
    return run_searches(SPACE, Judge(), "step", 150, 0, silent)


def test_each_search_keeps_its_budget_and_scores_no_model_twice(found):
    assert tuple(found) == SEARCHES
    for some in found.values():
        models = [each.model for each in some]
        assert 0 < len(models) <= 150
        assert len(set(models)) == len(models)
    assert len(found[EVOLUTION]) == len(found[RANDOM]) == 150


def test_evolution_finds_what_chance_does_not(found):
    """A wide first layer with thin ones behind it loses nothing; to draw it is improbable."""
    largest = Judge()(SPACE.largest)
    gains = {
        name: gain(best(each, largest, "step", "cycles", 0.0045), largest, "step", "cycles")
        for name, each in found.items()
    }
    assert gains[EVOLUTION] > 1.3 * gains[RANDOM]
    assert gains[EVOLUTION] > 2.5


def test_the_same_seed_is_the_same_search(found):
    again = run_searches(SPACE, Judge(), "step", 150, 0, silent)
    other = run_searches(SPACE, Judge(), "step", 150, 1, silent)
    for name in SEARCHES:
        assert [each.model for each in again[name]] == [each.model for each in found[name]]
    assert [each.model for each in other[RANDOM]] != [each.model for each in found[RANDOM]]


def test_a_space_that_is_smaller_than_the_budget_ends():
    space = Space(depths=(1,), widths=(32,), heads=(2,), hidden=(32, 64))
    judge = Judge()
    found = run_searches(space, judge, "step", 50, 0, silent)
    assert {name: len(each) for name, each in found.items()}[RANDOM] == 2
    assert len(judge.scored) == 2


def test_progress_goes_up_to_the_end():
    told = []
    run_searches(SPACE, Judge(), "step", 10, 0, lambda text, done: told.append((text, done)))
    shares = [done for _, done in told]
    assert all(0 <= done <= 1 for done in shares)
    assert any("random" in text for text, _ in told)
