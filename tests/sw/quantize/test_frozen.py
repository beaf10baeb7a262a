"""Integers of quantized models are those that were committed.

Other figures that a change of the quantizer may move are committed elsewhere: cosines of MiniLM in
`tests/sw/models/test_sentences.py`; SQNR in `tests/sw/quantize/graphs/test_quantized.py` and
docs/models.md (`celosia accuracy`); perplexity in `tests/sw/models/test_quantized_decoder.py` and
docs/language-model.md (`celosia language perplexity --integers`); cycles in
benchmarks/baseline.jsonl (`celosia bench`).
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from celosia.sw.reference.published import MissingModelError, model_files
from tests.support.frozen_integers import frozen_environment

FROZEN = json.loads(Path(__file__).with_name("frozen.json").read_text())
ROOT = Path(__file__).parents[3]


def check(*names: str) -> None:
    words = [sys.executable, "-W", "error", "-m", "tests.support.frozen_integers", *names]
    ended = subprocess.run(
        words, cwd=ROOT, env=frozen_environment(), capture_output=True, text=True, check=False
    )
    assert not ended.returncode, ended.stderr
    found = json.loads(ended.stdout)
    assert found.keys() >= set(names)
    assert found == {name: FROZEN[name] for name in found}


@pytest.mark.parametrize(
    "names",
    [
        ("random encoder", "bert-17"),
        ("vit", "gpt2"),
        ("int4 vit", "random decoder"),
        ("int16 llama",),
    ],
    ids=lambda each: each[0],
)
def test_integers_are_those_that_were_frozen(names):
    check(*names)


@pytest.mark.slow
def test_integers_of_the_published_model_are_those_that_were_frozen():
    try:
        model_files()
    except MissingModelError as missing:
        pytest.skip(str(missing))
    check("minilm")
