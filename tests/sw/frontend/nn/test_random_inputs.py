"""Random inputs are places of tables, masks that show all, and normal numbers."""

import numpy as np

from celosia.sw.frontend.nn.random_inputs import random_inputs
from tests.support.quantized_exports import BATCH, TOKENS, recognized


def test_places_are_within_the_tables_and_masks_show_all():
    graph = recognized("bert-17")
    found = random_inputs(graph, ["attention_mask"], 3)
    assert found["input_ids"].shape == (BATCH, TOKENS)
    assert 32 < found["input_ids"].max() < 64
    assert set(np.unique(found["token_type_ids"])) == {0, 1}
    assert (found["attention_mask"] == 1).all()
    again = random_inputs(graph, ["attention_mask"], 3)
    assert all(np.array_equal(found[name], again[name]) for name in found)


def test_pictures_are_normal_numbers():
    picture = random_inputs(recognized("vit"), [], 1)["pixel_values"]
    assert picture.dtype == np.float32
    assert 0.9 < picture.std() < 1.1
