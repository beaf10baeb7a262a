"""Exports behind the first steps of a model's road."""

from celosia.lab.exports.imported import imported_export
from celosia.lab.exports.writing.size import SMALL


def shapes(name):
    model = imported_export(name, SMALL, batch=2, tokens=12)
    assert not model.said
    return {key: kind.shape for key, kind in model.recognized.graph.inputs.items()}


def test_open_sizes_are_bound():
    text = {"input_ids": (2, 12), "attention_mask": (2, 12)}
    encoded = {"encoder_hidden_states": (2, 9, SMALL.width), "encoder_attention_mask": (2, 9)}
    found = shapes("bart-decoder")
    assert found == {key: (text | encoded)[key] for key in found}
    assert {"input_ids", "encoder_hidden_states"} <= found.keys()


def test_sizes_that_are_fixed_stay():
    ((_, *shape),) = shapes("vit").values()
    assert shape[1:] == [SMALL.image, SMALL.image]
