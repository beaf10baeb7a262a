"""Forms of decoders beside the usual ones: scaled waves, neighbours that turn, small logits."""

import numpy as np
import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.exports.decoders.llama import (
    beside,
    gemma2,
    narrowed,
    olmo2,
    scaled,
    small_llama,
    squared,
)
from celosia.lab.exports.decoders.phi import gpt_j
from celosia.lab.exports.writing.size import SMALL
from celosia.lab.training.scorers import float_scorer, integer_scorer
from celosia.sim.devices.devices import open_device
from celosia.sw.decoding.comparison import Comparison
from celosia.sw.decoding.decoder import quantize_decoder
from celosia.sw.decoding.read import read_decoder
from celosia.sw.decoding.session import DecoderSession
from celosia.sw.decoding.step_graph import Text
from celosia.sw.decoding.steps import session_bytes
from tests.support.decoder_exports import save
from tests.support.onnx_runtime import run_session, runtime_session

LENGTH = 40
FORMS = {
    **scaled,
    "narrowed": narrowed,
    "small-llama": small_llama,
    "gemma2": gemma2,
    "beside": beside,
    "gpt-j": gpt_j,
    "olmo2": olmo2,
    "squared": squared,
}
DECIBELS = {
    "linear": 24,
    "llama3": 20,
    "yarn": 20,
    "narrowed": 26,
    "small-llama": 11,
    "gemma2": 24,
    "beside": 26,
    "gpt-j": 35,
    "olmo2": 25,
    "squared": 25,
}


def texts(count, seed=0):
    random = np.random.default_rng(seed)
    return random.integers(0, SMALL.vocabulary, (count, LENGTH)).tolist()


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_that_of_its_file_in_float_and_in_steps_of_integers(name):
    model, (text,) = FORMS[name](SMALL, 0), texts(1, seed=1)
    graph = read_decoder(save(model), LENGTH)
    inputs = {"input_ids": np.array([text]), "attention_mask": np.ones((1, LENGTH), np.int64)}
    (wanted,) = run_session(runtime_session(model), inputs)
    exact = float_scorer(graph)(text)
    np.testing.assert_allclose(exact, wanted[0], atol=3e-5)

    quantized, comparison = quantize_decoder(graph, texts(16)), Comparison()
    found = integer_scorer(quantized)(text)
    noise = np.square(exact - found).sum() / np.square(exact).sum()
    assert -10 * np.log10(noise) > DECIBELS[name]

    programs = len(quantized.step([Text(20, 1)]).model.segments)
    assert programs == 1

    size = session_bytes(quantized, LENGTH)
    device = open_device("functional", PRESETS["base"], MemoryTiming(), size)
    session = DecoderSession(device, quantized, LENGTH, comparison)
    parts = [session.append(part)[0] for part in (text[:16], text[16:17], text[17:20])]
    device.close()
    assert (np.concatenate(parts) == found[:20]).all()
    assert comparison.elements


def test_waves_are_scaled():
    """The same weights, and other angles."""
    (text,) = texts(1)
    logits = []
    for name in scaled:
        inputs = {"input_ids": np.array([text]), "attention_mask": np.ones((1, LENGTH), np.int64)}
        logits += run_session(runtime_session(scaled[name](SMALL, 0)), inputs)
    assert np.abs(logits[0] - logits[1]).max() > 0.01
    assert np.abs(logits[1] - logits[2]).max() > 0.01
