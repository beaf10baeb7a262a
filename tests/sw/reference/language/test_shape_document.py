"""Sizes of language models in files."""

from dataclasses import replace

import pytest

from celosia.sw.reference.language.shape import SMALL, LayerShape
from celosia.sw.reference.language.shape_document import read_shape, shape_document
from tests.support.language import TINY, UNLIKE

WRITTEN = {
    "vocabulary": 2048,
    "layers": 4,
    "width": 128,
    "heads": 4,
    "key_heads": 2,
    "hidden": 384,
    "context": 256,
}
"""What the metadata of the small model say."""


def test_layers_that_are_alike_have_one_number():
    assert shape_document(SMALL) == WRITTEN
    assert read_shape(WRITTEN) == SMALL


@pytest.mark.parametrize(
    "shape", [TINY, UNLIKE, replace(TINY, layers=UNLIKE.layers[1:2])], ids=["alike", "unlike", "1"]
)
def test_a_shape_comes_back(shape):
    assert read_shape(shape_document(shape)) == shape


def test_layers_that_differ_stand_in_a_list():
    layers = shape_document(UNLIKE)["layers"]
    assert layers[1] == {"heads": 3, "key_heads": 1, "head_width": 8, "hidden": 40}
    assert len(layers) == 3


LISTED = {"vocabulary": 9, "width": 8, "context": 7}
LAYER = {"heads": 2, "key_heads": 1, "head_width": 4, "hidden": 3}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (3, "shape 3: is no object"),
        ({**WRITTEN, "layers": True}, "is not whole numbers for context, heads, hidden"),
        ({**WRITTEN, "layers": 10**12}, r"layers: 1000000000000 is not in 1\.\.1024"),
        ({**WRITTEN, "heads": 0}, "heads: 0 is not positive"),
        ({**WRITTEN, "heads": 3}, "heads: 3 do not divide a width of 128"),
        ({**LISTED, "layers": []}, r"layers: 0 is not in 1\.\.1024"),
        ({**WRITTEN, "layers": [LAYER]}, "is not whole numbers for context, layers, vocabulary"),
        ({**LISTED, "layers": [LAYER, 3]}, "layer 1: 3 is no object"),
        ({**LISTED, "layers": [LAYER, {}]}, "layer 1: sizes {}: is not whole numbers for head_wid"),
        ({**LISTED, "layers": [{**LAYER, "key_heads": 3}]}, "layer 0: key_heads: 3 do not divide"),
        ({**LISTED, "layers": [{**LAYER, "head_width": 5}]}, "layer 0: a head of 5 elements"),
    ],
)
def test_another_document_is_refused(document, message):
    with pytest.raises(ValueError, match=message):
        read_shape(document)


def test_a_layer_whose_heads_are_narrower_than_the_model_is_listed():
    narrow = replace(SMALL, layers=(LayerShape(heads=2, key_heads=1, head_width=32, hidden=16),))
    assert isinstance(shape_document(narrow)["layers"], list)
