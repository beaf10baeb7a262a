"""Every model passes ONNX's checker, runs in ONNX Runtime, and does what its name says."""

from functools import cache

import numpy as np
import onnx
import pytest

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from tests.support.decoder_exports import EXPORTED
from tests.support.onnx_runtime import run_session, runtime_session

TEXTS = [name for name in EXPORTS if "input_ids" in EXPORTS[name].inputs(SMALL, 0)]
CAUSAL = (*EXPORTED, "bart-decoder")
BERTS = [name for name in EXPORTS if name.startswith("bert") and name != "bert-fused-mask"]


@cache
def session(name):
    return runtime_session(EXPORTS[name].build(SMALL))


def run(name, inputs):
    (output,) = run_session(session(name), inputs)
    return output


@pytest.mark.parametrize("name", EXPORTS)
def test_a_model_is_well_formed(name):
    onnx.checker.check_model(EXPORTS[name].build(SMALL), full_check=True)


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize(("batch", "tokens"), [(1, 9), (3, 20)])
def test_a_model_runs_with_open_sizes(name, batch, tokens):
    output = run(name, EXPORTS[name].inputs(SMALL, 1, batch=batch, tokens=tokens))
    assert output.shape[0] == batch
    if name in TEXTS:
        assert output.shape[1] == tokens
    assert np.isfinite(output).all()
    assert 0.3 < output.std() < 3


@pytest.mark.parametrize("name", TEXTS)
def test_what_a_mask_hides_changes_nothing(name):
    inputs = EXPORTS[name].inputs(SMALL, 2, batch=2, tokens=12)
    mask = next(value for key, value in inputs.items() if key.endswith("attention_mask"))
    mask[1, 7:] = 0
    (key,) = inputs.keys() & {"encoder_hidden_states"} or {"input_ids"}
    changed = inputs | {key: inputs[key].copy()}
    changed[key][1, 7:] = 0
    rows = slice(None) if key == "encoder_hidden_states" else slice(7)
    before, after = run(name, inputs)[1, rows], run(name, changed)[1, rows]
    np.testing.assert_allclose(before, after, atol=1e-5)


@pytest.mark.parametrize("name", TEXTS)
def test_only_causal_models_do_not_see_later_tokens(name):
    inputs = EXPORTS[name].inputs(SMALL, 3, tokens=12)
    changed = inputs | {"input_ids": inputs["input_ids"].copy()}
    changed["input_ids"][0, 8:] = (changed["input_ids"][0, 8:] + 1) % SMALL.vocabulary
    difference = np.abs(run(name, inputs) - run(name, changed))[0, :8].max()
    assert (difference < 1e-5) == (name in CAUSAL)


@pytest.mark.parametrize("name", BERTS)
def test_all_forms_of_bert_compute_the_same(name):
    inputs = EXPORTS["bert-13"].inputs(SMALL, 4, batch=2, tokens=16)
    shown = inputs["attention_mask"] == 1
    expected = run("bert-13", inputs)[shown]
    np.testing.assert_allclose(run(name, inputs)[shown], expected, atol=1e-4)


def test_a_seed_gives_other_weights_and_the_same_again():
    one, again, other = (EXPORTS["vit"].build(SMALL, seed) for seed in (1, 1, 2))
    assert one.SerializeToString() == again.SerializeToString()
    assert one.SerializeToString() != other.SerializeToString()


@pytest.mark.parametrize(
    ("name", "nodes"),
    [("bert-13", 217), ("bert-17", 167), ("opt", 376), ("vit", 174), ("whisper-encoder", 163)],
)
def test_a_model_has_as_many_nodes_as_a_real_export(name, nodes):
    """The counts of torch 2.15 and transformers 4.57, but for Identity nodes of equal weights."""
    assert len(EXPORTS[name].build(SMALL).graph.node) == nodes
