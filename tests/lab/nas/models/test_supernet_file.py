"""The file of a supernet."""

import json

import numpy as np
import pytest

from celosia.lab.nas.models.space import Space
from celosia.lab.nas.models.supernet_file import SupernetRecipe, load_supernet, save_supernet
from celosia.lab.nas.models.texts import Texts
from celosia.sim.support.problems import InputError
from tests.support.language import random_weights

SPACE = Space(depths=(1,), widths=(16,), heads=(2,), hidden=(16,), head_width=8)
OTHER = Space(depths=(1,), widths=(16,), heads=(2,), hidden=(16, 32), head_width=8)
RECIPE = SupernetRecipe(shape=SPACE.largest, space=str(SPACE))


def texts(seed):
    tokens = np.random.default_rng(seed).integers(0, 99, 50).astype(np.uint16)
    return Texts(tokens, tokens, tokens, np.zeros(49, np.int32))


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "supernet.npz"
    return path, save_supernet(path, RECIPE, texts(0), random_weights(SPACE.largest).tensors)


def test_it_comes_back(saved):
    path, supernet = saved
    found = load_supernet(path, SPACE, texts(0))
    assert found.key == supernet.key
    assert found.recipe["steps"] == RECIPE.steps
    assert all(np.array_equal(found.tensors[n], x) for n, x in supernet.tensors.items())


def test_that_of_another_text_or_space_is_refused(saved):
    path, _ = saved
    with pytest.raises(InputError, match=f"a supernet of text {texts(0).key}, not {texts(1).key}"):
        load_supernet(path, SPACE, texts(1))
    with pytest.raises(InputError, match=r"of the space .*hidden \(16,\).*, not .*\(16, 32\)"):
        load_supernet(path, OTHER, texts(0))


def change(path, **changed):
    with np.load(path) as found:
        arrays = dict(found)
    header = json.loads(str(arrays["header"])) | changed
    np.savez(path, **{**arrays, "header": np.array(json.dumps(header))})


def test_that_of_another_version_is_refused(saved):
    path, _ = saved
    change(path, version=2)
    with pytest.raises(InputError, match="a supernet of version 2, not 1"):
        load_supernet(path, SPACE, texts(0))


@pytest.mark.parametrize("content", [b"", b"PK\3\4 no file", b"\x93NUMPY"])
def test_what_is_damaged_is_refused(saved, content):
    path, _ = saved
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a supernet"):
        load_supernet(path, SPACE, texts(0))


def test_tensors_that_are_not_numbers_are_refused(saved):
    path, supernet = saved
    broken = {**supernet.tensors, "norm": np.full(16, np.nan, np.float32)}
    save_supernet(path, RECIPE, texts(0), broken)
    with pytest.raises(InputError, match="not finite float32 numbers of its space"):
        load_supernet(path, SPACE, texts(0))
    save_supernet(path, RECIPE, texts(0), {"norm": supernet.tensors["norm"]})
    with pytest.raises(InputError, match="not finite float32 numbers of its space"):
        load_supernet(path, SPACE, texts(0))
