"""What is kept of a measurement, and when it is not taken."""

import numpy as np
import pytest

from celosia.sim.export.silicon.power.kept import is_kept, kept_samples, kept_windows, key_of
from celosia.sim.support.cache import CACHE_VARIABLE
from tests.sim.export.silicon.power.test_table_file import MESH, sample


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))


def _never():
    raise AssertionError("it is there")


def test_samples_come_back():
    made = [sample(1, 2.0), sample(2, 3.0)]
    made[1].wrong["celosia_axi.x.y"] = 0.25
    key = key_of(["a"])
    assert not is_kept(key)
    kept_samples(key, lambda: made)
    assert is_kept(key)
    for before, after in zip(made, kept_samples(key, _never), strict=True):
        assert list(before.events) == list(after.events)
        assert list(before.groups) == list(after.groups)
        assert np.array_equal(before.events["mac"], after.events["mac"])
        assert np.array_equal(before.groups[MESH].pj, after.groups[MESH].pj)
        assert np.array_equal(before.groups[MESH].gated_pj, after.groups[MESH].gated_pj)
        assert before.wrong == after.wrong


def test_windows_come_back():
    assert kept_windows("k", lambda: [(1, 2), (3, 4)]) == [(1, 2), (3, 4)]
    assert kept_windows("k", _never) == [(1, 2), (3, 4)]


def test_a_failure_keeps_nothing():
    with pytest.raises(AssertionError):
        kept_samples("k", _never)
    assert not is_kept("k")


def test_keys_are_of_all_parts():
    assert key_of(["a", "b"]) == key_of(["a", "b"])
    assert len({key_of(["a", "b"]), key_of(["ab"]), key_of(["b", "a"])}) == 3
