"""Words for people."""

import pytest

from celosia.sim.support.words import counted, cut_middle


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        (0, ("segment",), "0 segments"),
        (1, ("segment",), "1 segment"),
        (2000, ("segment",), "2,000 segments"),
        (1, ("entry", "entries"), "1 entry"),
        (3, ("entry", "entries"), "3 entries"),
    ],
)
def test_one_thing_is_not_several(number, words, text):
    assert counted(number, *words) == text


@pytest.mark.parametrize(
    ("width", "text"),
    [
        (99, "/model/layer.0/attention/self/query/Add (Add) x6"),
        (40, ".../layer.0/attention/self/query/Add x6"),
        (36, "model/layer.0/.../self/query/Add x6"),
        (32, "model/layer.0/.../query/Add x6"),
        (20, ".../query/Add x6"),
        (12, ".../Add x6"),
    ],
)
def test_paths_are_cut_in_the_middle(width, text):
    assert cut_middle("/model/layer.0/attention/self/query/Add (Add) x6", width) == text


def test_what_a_product_is_for_goes_with_its_operator():
    """Which layer it is of says more than that it is a product."""
    name = "/encoder/layer.2/intermediate/intermediate_act_fn/Mul_1 (Mul): product"
    assert cut_middle(name, 28) == "encoder/layer.2/.../Mul_1"
    assert cut_middle(f"{name} x4", 28) == "encoder/layer.2/.../Mul_1 x4"


@pytest.mark.parametrize(
    ("width", "text"),
    [
        (35, ".../discriminato...e_prediction/Add"),
        (19, ".../disc...tion/Add"),
        (18, "model/.../Add"),
    ],
)
def test_a_long_name_above_the_last_is_cut_itself(width, text):
    """Two heads of ELECTRA, which are all called Add: where they are tells them apart."""
    name = "/model/discriminator_predictions.dense_prediction/Add"
    assert cut_middle(name, width) == text


def test_a_path_of_two_long_parts_begins_with_the_first():
    name = "/discriminator_predictions.dense/MatMul"
    assert cut_middle(name, 32) == "discriminat...tions.dense/MatMul"


def test_names_without_parts_keep_both_ends():
    assert cut_middle("a_name_that_is_far_too_long", 13) == "a_nam..._long"
    assert cut_middle("short", 5) == "short"
    for width in range(1, 30):
        assert len(cut_middle("a_name_that_is_far_too_long", width)) <= width
