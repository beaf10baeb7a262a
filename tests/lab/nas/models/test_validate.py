"""Trainings from scratch, kept and compared."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from celosia.lab.nas.models import validate
from celosia.lab.nas.models.space import Space
from celosia.lab.nas.models.texts import Texts, sums_of_documents
from celosia.lab.nas.models.validate import Scratch, ratio_of, recipes_of, scratch_line, trained
from celosia.lab.sweep.lines import open_lines
from celosia.lab.training.recipe import Recipe
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import silent
from celosia.sim.support.workers import Lane, Lost

SPACE = Space(depths=(1, 2), widths=(16,), heads=(2,), hidden=(16,), head_width=8)
HERE = (Lane(make=lambda: ThreadPoolExecutor(1)),)
TOKENS = np.arange(11, dtype=np.uint16)
TEXTS = Texts(TOKENS, TOKENS, TOKENS, np.repeat(np.arange(2), [4, 6]).astype(np.int32))
RECIPES = list(recipes_of(SPACE.largest, Recipe(), 3))


def learned(training):
    """What a training would leave: its seed decides."""
    line = scratch_line(training.recipe, training.texts, None)
    return {**line, "validation": 5.0, "sums": [-10.0 - training.recipe.seed, -20.0]}


def test_seeds_are_those_of_one_model():
    assert [recipe.seed for recipe in RECIPES] == [0, 1, 2]
    assert {recipe.shape for recipe in RECIPES} == {SPACE.largest}


def test_what_ended_is_not_done_again(tmp_path):
    with open_lines(tmp_path, "nas.jsonl", "search") as lines:
        first = trained(RECIPES[:2], TEXTS, lines, HERE, tmp_path, silent, learned)
        calls = []

        def counted(training):
            calls.append(training.recipe.seed)
            return learned(training)

        found = trained(RECIPES, TEXTS, lines, HERE, tmp_path, silent, counted)
    assert calls == [2]
    assert [found[recipe].sums[0] for recipe in RECIPES] == [-10, -11, -12]
    assert np.array_equal(first[RECIPES[0]].sums, found[RECIPES[0]].sums)


def test_another_text_or_recipe_is_another_training():
    one = scratch_line(RECIPES[0], TEXTS, None)["key"]
    others = [
        scratch_line(replace(RECIPES[0], steps=851), TEXTS, None)["key"],
        scratch_line(RECIPES[1], TEXTS, None)["key"],
        scratch_line(replace(RECIPES[0], shape=SPACE.smallest), TEXTS, None)["key"],
        scratch_line(RECIPES[0], replace(TEXTS, learned=TOKENS[:10]), None)["key"],
        scratch_line(RECIPES[0], replace(TEXTS, held_out=TOKENS[:10]), None)["key"],
    ]
    assert len({one, *others}) == 6


def test_workers_that_end_are_said(tmp_path, monkeypatch):
    monkeypatch.setattr(validate, "run_on", lambda *a: ((each, Lost(5)) for each in a[2]))
    with (
        open_lines(tmp_path, "nas.jsonl", "search") as lines,
        pytest.raises(EnvironmentProblem, match="a worker ended 5 times"),
    ):
        trained(RECIPES, TEXTS, lines, HERE, tmp_path, silent)


def test_sums_are_those_of_documents():
    found = sums_of_documents(np.arange(10, dtype=np.float32), TEXTS)
    assert found.tolist() == [0 + 1 + 2 + 3, 4 + 5 + 6 + 7 + 8 + 9]
    assert TEXTS.counts.tolist() == [4, 6]


def test_a_ratio_is_of_the_means_of_seeds():
    ours = [Scratch(1, np.array([-12.0, -18.0])), Scratch(1, np.array([-8.0, -12.0]))]
    theirs = [Scratch(1, np.array([-8.0, -12.0]))]
    # Means of ours: -10 and -15; 5 more in 10 tokens.
    assert ratio_of(ours, theirs, TEXTS).value == pytest.approx(np.exp(0.5))
