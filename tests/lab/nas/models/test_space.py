"""The space of a search."""

import numpy as np
import pytest

from celosia.lab.nas.models.space import DEFAULT, Space, read_space
from celosia.sim.support.problems import InputError
from celosia.sw.reference.language.shape import LayerShape

SPACE = Space(depths=(1, 2), widths=(32, 48), heads=(2, 4), hidden=(32, 64, 96))


def test_its_size_counts_each_model_once():
    """2 widths of 6 layers alone, or 36 pairs of them."""
    assert SPACE.size == 2 * (6 + 36)
    assert len({SPACE.drawn(np.random.default_rng(seed)) for seed in range(2000)}) == 84
    assert len(set(SPACE.uniform())) == 2 * 2 * 6


def test_the_largest_has_all_and_the_smallest_the_least():
    layer = LayerShape(heads=4, key_heads=2, head_width=32, hidden=96)
    assert SPACE.largest.layers == (layer, layer)
    assert SPACE.largest.width == 48
    assert SPACE.smallest.layers == (LayerShape(heads=2, key_heads=1, head_width=32, hidden=32),)
    assert SPACE.smallest.width == 32
    assert DEFAULT.largest.parameters == 3_271_104


def test_a_change_at_no_rate_is_none_and_models_stay_in_the_space():
    random = np.random.default_rng(0)
    models = set(SPACE.uniform())
    for _ in range(50):
        one, other = SPACE.drawn(random), SPACE.drawn(random)
        assert SPACE.changed(one, random, 0) == one
        assert SPACE.crossed(one, one, random) == one
        child = SPACE.changed(SPACE.crossed(one, other, random), random, 0.5)
        assert child.width in SPACE.widths
        assert len(child.layers) in SPACE.depths
        assert set(child.layers) <= set(SPACE.layers)
    assert len(models) == 24


def test_heads_that_share_no_keys_are_left_out():
    space = Space(depths=(1,), widths=(32,), heads=(1, 2, 3), hidden=(32,))
    assert space.heads == (2,)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"heads": (1, 3)}, r"heads: of \[1, 3\] none is a multiple of the 2 together"),
        ({"depths": ()}, "depths: there are none, so no model is legal"),
        ({"widths": (64, 32)}, r"widths: \[64, 32\] do not ascend"),
        ({"hidden": (0, 32)}, r"hidden: 0 is not in 1\.\.4096"),
        ({"depths": (17,)}, r"depths: 17 is not in 1\.\.16"),
        ({"head_width": 31}, "head_width: 31 has no two halves"),
        ({"hidden": tuple(range(1, 66))}, "hidden: 65 are more than 64 values"),
    ],
)
def test_sizes_that_no_model_has_are_refused(changed, message):
    sizes = {"depths": (1,), "widths": (32,), "heads": (2,), "hidden": (32,)}
    with pytest.raises(ValueError, match=message):
        Space(**{**sizes, **changed})


def test_a_space_is_read(tmp_path):
    path = tmp_path / "space.toml"
    text = "depths = [1, 2]\nwidths = [32, 48]\nheads = [2, 4]\nhidden = [32, 64, 96]\n"
    path.write_text(text)
    assert read_space(str(path)) == SPACE
    path.write_text(f"{text}together = 4\nhead_width = 16\n")
    assert read_space(str(path)).heads == (4,)
    assert read_space(str(path)).head_width == 16


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("depths = [1]", "widths: is missing"),
        ("depths = 1", "depths: 1 is not a list of whole numbers"),
        ('widths = ["a"]', r"widths: \['a'\] is not a list of whole numbers"),
        ("together = [2]", r"together: \[2\] is not a whole number"),
        ("head_width = true", "head_width: True is not a whole number"),
        ("taste = 1", "taste: there are depths, widths, heads, hidden, head_width, together"),
        ("depths = [", "space.toml: "),
        ("depths=[1]\nwidths=[32]\nheads=[3]\nhidden=[32]", "so no model is legal"),
    ],
)
def test_files_that_are_no_space_are_refused(tmp_path, text, message):
    path = tmp_path / "space.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_space(str(path))


def test_a_file_that_is_not_there_is_named_once():
    with pytest.raises(InputError, match=r"^gone\.toml: No such file"):
        read_space("gone.toml")
