"""`celosia language speculation`, from outside, on a small model without a clock."""

import json
from pathlib import Path

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.training import speculation_command
from celosia.lab.training.speculation import Clock
from celosia.lab.training.speculation_command import Speculation
from celosia.sim.devices.devices import open_device
from celosia.sw.decoding.drafts.ngram_file import NGRAMS, save_ngrams
from celosia.sw.decoding.drafts.ngrams import count_ngrams
from celosia.sw.decoding.steps import session_bytes
from celosia.sw.reference.language.calibration import save_calibration
from celosia.sw.reference.language.model_file import (
    TOKENIZER,
    WEIGHTS,
    save_weights,
    shipped_folder,
)
from tests.support.command_line import invoke, refused, right
from tests.support.language import random_weights, small_shape

WORDS = ("language", "speculation", "--model", "model", "--json", "out.json", "--rtl-texts")


@pytest.fixture(autouse=True)
def model(monkeypatch, tmp_path):
    """A folder with a model of random weights; a step takes as many cycles as it has tokens."""
    shape = small_shape(layers=1, width=32, heads=2, key_heads=1, hidden=16, context=32)
    monkeypatch.chdir(tmp_path)
    folder = Path("model")
    folder.mkdir()
    save_weights(folder / WEIGHTS, shape, random_weights(shape).tensors, {})
    (folder / TOKENIZER).write_bytes((shipped_folder() / TOKENIZER).read_bytes())
    save_calibration(folder, [list(range(32))])
    save_ngrams(folder / NGRAMS, count_ngrams([1, 2, 3] * 9))

    def functional(_simulator, model, tell):
        size = session_bytes(model, 20)
        return open_device("functional", PRESETS["base"], MemoryTiming(), size, tell)

    monkeypatch.setattr(speculation_command, "_open", functional)
    monkeypatch.setattr(speculation_command, "_UNTIL", (19, 20))
    monkeypatch.setattr(speculation_command, "_TEXTS", 2)
    monkeypatch.setattr(Clock, "cycles", lambda _, steps: sum(taken for _, taken in steps))
    return folder


def test_the_table_has_each_kind_of_text_and_draft(model, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    table = right(*WORDS, 0).stdout
    document = json.loads(Path("out.json").read_text())
    assert document["schema"] == Speculation.schema
    assert len(document["rows"]) == len([line for line in table.splitlines() if line[0] == "│"])
    for row in document["rows"]:
        assert row["gains"]["19"]["plain_cycles"] == 2 * (19 - 18)
        assert row["gains"]["20"]["tokens"] == 2 * (20 - 18)
    assert "step by step" not in table
    assert "little model" not in table
    result = invoke(
        *WORDS, 1, "--draft-model", "model"
    )  # A device without a clock takes other cycles.
    assert result.exit_code == 1
    assert "1 of the greedy texts step by step on the RTL: texts 0, 0 differ" in result.stdout
    assert result.stdout.count("lookup, little model") == 3
    refused("x: No such file", *WORDS, 0, "--draft-model", "x")
    (model / NGRAMS).unlink()
    refused("No such file", *WORDS, 0)
