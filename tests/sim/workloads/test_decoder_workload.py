"""Steps of decoders that cannot be, and how many bytes a step has to read."""

import pytest

from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.workloads import decoder_workload
from celosia.sim.workloads.decoder_workload import DECODERS, decoder, decoder_layer, step_bytes
from celosia.sim.workloads.details import Decoder, DecoderLayer
from celosia.sw.decoding.texts import Text
from celosia.sw.models.decoder_shape import DecoderShape
from celosia.sw.reference.language.shape import LayerShape


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "decoder: give --model, one of gpt2-small, opt-125m, tinyllama"),
        ({"model": "gpt2"}, "--model gpt2: there are gpt2-small, opt-125m, tinyllama"),
        ({"model": "opt-125m"}, "decoder: give --context, the number of tokens in the caches"),
        ({"model": "opt-125m", "context": "1,"}, "--context 1,: '' is no number of tokens"),
        ({"model": "opt-125m", "context": "-1"}, "--context -1: '-1' is no number of tokens"),
        ({"model": "opt-125m", "context": "12345"}, "each from 0 to 4095"),
        ({"model": "opt-125m", "context": "1", "rows": 0}, "--rows 0: a step has at least one"),
        (
            {"model": "opt-125m", "context": "4095", "rows": 2},
            "--context 4095 --rows 2: 4097 keys are more than the 4096 of the longest row",
        ),
        (
            {"model": "opt-125m", "context": "1", "layers": 1_000_000},
            "--layers 1000000: 7,077,888,000,000 bytes of weights are more than the",
        ),
    ],
)
def test_what_is_no_step_is_refused(options, said):
    with pytest.raises(InputError) as told:
        decoder(Decoder(**options), 0, silent)
    assert said in str(told.value)


def test_a_layer_says_its_own_name():
    with pytest.raises(InputError, match=r"^decoder-layer: give --model"):
        decoder_layer(DecoderLayer(), 0, silent)


def test_a_step_reads_all_weights_and_the_keys_and_values_of_each_text():
    """GPT-2 small: 12 layers of 12 x 768 x 768, the vocabulary's product, 2 x 768 for a token."""
    shape = DECODERS["gpt2-small"]
    weights = 12 * 12 * 768**2 + 768 * 50257
    assert step_bytes(shape, []) == weights
    texts = [Text(10, 1), Text(3, 2)]
    assert step_bytes(shape, texts) - weights == 12 * 2 * 768 * (11 + 5)


LAYERS = (LayerShape(heads=2, key_heads=2, head_width=16, hidden=40),) * 2
SMALL = DecoderShape(form="gpt2", width=32, vocabulary=50, layers=LAYERS)


def test_weights_and_caches_may_fill_memory_to_the_last_byte(monkeypatch):
    monkeypatch.setattr(decoder_workload, "DECODERS", {"small": SMALL})
    options = Decoder(model="small", context="3")
    monkeypatch.setattr(decoder_workload, "MAX_MEMORY_BYTES", 0)
    with pytest.raises(InputError) as told:
        decoder(options, 0, silent)
    needed = int(str(told.value).split(": ")[2].split()[0].replace(",", ""))
    weights = 2 * (4 * 32 * 32 + 2 * 32 * 40) + 32 * 50
    assert weights + 2 * 2 * 32 * (3 + 1) <= needed < 2 * weights
    monkeypatch.setattr(decoder_workload, "MAX_MEMORY_BYTES", needed)
    assert decoder(options, 0, silent).step_bytes
    monkeypatch.setattr(decoder_workload, "MAX_MEMORY_BYTES", needed - 1)
    with pytest.raises(InputError, match="are more than the"):
        decoder(options, 0, silent)


@pytest.mark.parametrize(
    ("weights", "layer", "last"),
    [("int8", 1, 1), ("int4", 2, 1), ("int4-vocabulary", 2, 2)],
)
def test_int4_weights_are_half_a_byte(monkeypatch, weights, layer, last):
    """Two layers of four products of 32 x 32 and two of 32 x 40, then 50 words; 2 x 32 a token."""
    monkeypatch.setattr(decoder_workload, "DECODERS", {"small": SMALL})
    options = {"model": "small", "context": "3", "weights": weights}
    one = (4 * 32 * 32 + 2 * 32 * 40) // layer
    cached = 2 * 32 * (3 + 1)
    whole = decoder(Decoder(**options), 0, silent)
    assert whole.step_bytes == 2 * one + 32 * 50 // last + 2 * cached
    alone = decoder_layer(DecoderLayer(**options), 0, silent)
    assert alone.step_bytes == one + cached
