"""Sizes of decoders against the papers' numbers."""

from dataclasses import replace

import pytest

from celosia.sw.models.decoder_shape import GPT2_SMALL, OPT_125M, TINYLLAMA
from celosia.sw.reference.language.shape import LayerShape


def test_the_matrices_of_a_layer_are_its_projections_and_its_network():
    """Of GPT-2: four projections of 768 x 768, and two products with 3,072 hidden elements."""
    assert GPT2_SMALL.layer_weights == 12 * (4 * 768**2 + 2 * 768 * 3072)
    assert GPT2_SMALL.weights == GPT2_SMALL.layer_weights + 768 * 50257
    assert OPT_125M.weights == GPT2_SMALL.layer_weights + 768 * 50272


def test_a_llama_has_a_gate_and_few_heads_of_keys():
    """TinyLlama: 1,100,048,384 parameters, less an embedding and 45 norms of 2,048."""
    assert TINYLLAMA.weights == 1_100_048_384 - 32_000 * 2048 - 45 * 2048
    assert TINYLLAMA.cache_width == 22 * 2 * 4 * 64
    assert GPT2_SMALL.cache_width == 12 * 2 * 768


def test_layers_go_around():
    mixed = replace(GPT2_SMALL, layers=(GPT2_SMALL.layers[0], replace(SMALL, hidden=8)))
    assert [each.hidden for each in mixed.with_layers(3).layers] == [3072, 8, 3072]
    assert len(GPT2_SMALL.with_layers(2).layers) == 2
    assert str(mixed) == "gpt2 2x768, 12/2 heads, 3072/8 hidden"
    assert str(TINYLLAMA) == "llama 22x2048, 32 heads, 5632 hidden"


SMALL = LayerShape(heads=2, key_heads=2, head_width=64, hidden=16)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"width": 0}, "width: 0 is not positive"),
        ({"vocabulary": -1}, "vocabulary: -1 is not positive"),
        ({"layers": ()}, "layers: there are none"),
    ],
)
def test_sizes_that_cannot_be_are_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        replace(GPT2_SMALL, **changes)
