"""The page draws and foretells the tokens that Python does."""

import base64

import numpy as np
import pytest

from celosia.sim.web.text.blob import Blob
from celosia.sim.web.text.tables import drafts_document, sampler_document
from celosia.sw.decoding.drafts.draft import draft_of
from celosia.sw.decoding.drafts.lookup import look_up
from celosia.sw.decoding.drafts.ngrams import Ngrams, count_ngrams
from celosia.sw.reference.language.errors import LanguageError
from celosia.sw.reference.language.random_words import RandomWords
from celosia.sw.reference.language.sampling import Sampler
from tests.support.language import predictable_text
from tests.support.page_scripts import evaluated
from tests.support.wasm_node import needs_node

pytestmark = needs_node
SEEDS = [0, 1, 2**32, 2**63 + 12345, 2**64 - 1]


def sampled(body, **given):
    return evaluated(["text/sampler.js"], body, {"tables": sampler_document(), **given})


def test_random_numbers_are_those_of_the_seed():
    limits = [1, 2, 3, 1000, 2**31, 2**32, 2**32 + 1, 3 * 2**40 + 7, 2**53]
    body = """return given.seeds.map((seed) => {
      const random = new RandomWords(given.tables, BigInt(seed));
      return given.limits.map((limit) => random.below(limit));
    });"""
    found = sampled(body, seeds=[str(seed) for seed in SEEDS], limits=limits)
    for seed, numbers in zip(SEEDS, found, strict=True):
        random = RandomWords(seed)
        assert numbers == [random.below(limit) for limit in limits]


@pytest.mark.parametrize(
    ("temperature", "top_p"), [(0, 1), (0.7, 0.9), (1, 1), (0.01, 0.5), (30, 1e-9)]
)
def test_tokens_are_drawn_alike(temperature, top_p):
    """Logits of few steps, so that many are equal, as a model's integers are."""
    random, step = np.random.default_rng(7), 0.0009344908433463003
    rows = (random.integers(-9000, 9000, (40, 300)) * step).astype(np.float32)
    rows[:5] = np.round(rows[:5])
    body = """const seed = BigInt(given.seed);
      const sampler = new Sampler(given.tables, { ...given, seed });
      return given.rows.map((row) => sampler.choose(row));"""
    sampler = Sampler(temperature=temperature, top_p=top_p, seed=5)
    drawn = sampler.random()
    given = {"temperature": temperature, "topP": top_p, "seed": "5"}
    found = sampled(body, rows=rows.astype(float).tolist(), **given)
    assert found == [sampler.choose(row, drawn) for row in rows]


def test_alternatives_are_the_most_probable_tokens_and_the_chosen_one():
    logits = np.log(np.array([0.1, 0.4, 0.2, 0.3], np.float32))
    body = """const sampler = new Sampler(given.tables, { temperature: 1, topP: 0.65, seed: 0n });
      return sampler.alternatives(given.logits, 0, 3);"""
    found = sampled(body, logits=logits.astype(float).tolist())
    assert [each["token"] for each in found] == [1, 3, 0]
    assert [each["chosen"] for each in found] == [False, False, True]
    assert [each["left"] for each in found] == [False, False, True]
    np.testing.assert_allclose([each["share"] for each in found], [0.4, 0.3, 0.1], atol=1e-3)


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"temperature": -1}, "temperature: -1 is not a finite number from 0 on"),
        ({"topP": 0}, "top-p: 0 is not above 0 and at most 1"),
        ({"topP": 1.5}, "top-p: 1.5 is not above 0 and at most 1"),
        ({"seed": str(2**64)}, f"seed: {2**64} is not in 0..{2**64 - 1}"),
    ],
)
def test_what_python_refuses_is_refused(changed, rule):
    usual = {"temperature": 1, "topP": 1, "seed": "0"}
    body = """try { new Sampler(given.tables, { ...given, seed: BigInt(given.seed) }); }
      catch (error) { return error.message; }"""
    assert sampled(body, **(usual | changed)) == rule
    python = {
        "temperature": float((usual | changed)["temperature"]),
        "top_p": float((usual | changed)["topP"]),
    }
    with pytest.raises(LanguageError):
        Sampler(**python, seed=int((usual | changed)["seed"]))


def test_drafts_are_those_of_lookup_and_ngrams():
    text = predictable_text(400).tolist()
    ngrams, blob = count_ngrams(text), Blob()
    document = drafts_document(ngrams, blob)
    cases = [text[:length] for length in (1, 2, 3, 5, 40, 200)] + [[1, 2, 3, 4] * 5, [63]]
    body = """const data = Uint8Array.from(atob(given.data), (letter) => letter.charCodeAt(0));
      const drafts = new Drafts(given.document, data, given.most);
      return given.cases.map((text) => drafts.after(text, given.count));"""
    for most, count in ((7, 100), (15, 3)):
        found = evaluated(
            ["text/drafts.js"],
            body,
            {
                "document": document,
                "data": base64.b64encode(bytes(blob.data)).decode(),
                "most": most,
                "cases": cases,
                "count": count,
            },
        )
        draft = draft_of(most, look_up, ngrams)
        assert found == [draft(case, count) for case in cases]
        assert any(found)


def test_tokens_of_more_than_16_bits_are_refused():
    with pytest.raises(ValueError, match=r"token 65536 is not in 0\.\.65535"):
        drafts_document(Ngrams({(1,): (1 << 16, 0.5)}), Blob())
