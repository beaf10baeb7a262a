"""Steps of a text in float32 are the text as a whole."""

import numpy as np
import pytest

from celosia.lab.training.scorers import float_scorer
from celosia.sw.decoding import float_session
from celosia.sw.decoding.float_session import FloatSession, check_steps
from celosia.sw.decoding.problem import DecoderProblem
from celosia.sw.decoding.step_graph import Table
from celosia.sw.decoding.texts import Text
from celosia.sw.models.decoder_graph import llama_float_graph
from tests.support.language import random_weights

TOKENS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]


def graph():
    return llama_float_graph(random_weights(), len(TOKENS))


@pytest.mark.parametrize("cut", range(1, len(TOKENS)))
def test_a_text_and_its_steps_have_the_same_logits(cut):
    session = FloatSession(graph(), len(TOKENS))
    parts = [session.append(TOKENS[:cut])]
    parts += [session.append([token]) for token in TOKENS[cut:]]
    np.testing.assert_allclose(np.concatenate(parts), float_scorer(graph())(TOKENS), atol=1e-5)
    assert session.length == len(TOKENS)


def test_a_token_does_not_see_those_behind_it():
    scorer = float_scorer(graph())
    before, after = scorer([1, 2, 3, 4]), scorer([1, 2, 3, 5])
    np.testing.assert_array_equal(before[:3], after[:3])
    assert np.abs(before[3] - after[3]).max() > 0.1


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([], "there are none"),
        ([1, 24], r"token 1: 24 is not in 0\.\.23"),
        ([-1], r"token 0: -1 is not in 0\.\.23"),
        ([1] * 4, "4 after 2 are more than the 5 of the context"),
    ],
)
def test_tokens_that_it_cannot_take_are_refused(tokens, message):
    session = FloatSession(graph(), 5)
    session.append([1, 2])
    with pytest.raises(ValueError, match=message):
        session.append(tokens)
    assert session.length == 2


def test_a_graph_whose_steps_are_not_its_rows_is_refused(monkeypatch):
    check_steps(graph())
    right = Table.at

    def at_the_start(table, texts):
        return right(table, [Text(0, text.rows) for text in texts])

    monkeypatch.setattr(Table, "at", at_the_start)
    with pytest.raises(DecoderProblem, match="its steps have other logits than a whole text"):
        check_steps(graph())


@pytest.mark.parametrize(("more", "same"), [(0.9e-3, True), (1.1e-3, False), (np.nan, False)])
def test_steps_may_be_a_thousandth_of_the_largest_logit_off(more, same, monkeypatch):
    """Eight of the twelve tokens are tried, and only their largest logit counts."""
    whole = graph()
    random = np.random.default_rng(0)
    wanted = random.uniform(-1, 1, (1, len(TOKENS), 24)).astype(np.float32)
    wanted[0, -1, 0] = 50  # Of a token that no step has.
    wanted[0, 3, 0] = -2
    taken = []

    def append(_session, tokens):
        rows = slice(len(taken), len(taken) + len(tokens))
        taken.extend(tokens)
        found = wanted[0, rows].astype(np.float64)
        found[0, 1] += 2 * more
        return found

    monkeypatch.setattr(float_session, "interpret", lambda *_: {"logits": wanted})
    monkeypatch.setattr(FloatSession, "append", append)
    if same:
        check_steps(whole)
    else:
        with pytest.raises(DecoderProblem, match="its steps have other logits than a whole text"):
            check_steps(whole)
    assert len(taken) == 8
