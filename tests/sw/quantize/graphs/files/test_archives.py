"""Archives of arrays, whole and damaged."""

import io
import tracemalloc

import numpy as np
import pytest

from celosia.isa.foreign_file import ForeignFileError
from celosia.sw.quantize.graphs.files.archives import read_npz


def saved(path, **arrays):
    np.savez(path, **arrays)
    return path


def test_what_was_saved_is_read(tmp_path):
    found = read_npz(saved(tmp_path / "x.npz", a=np.arange(3), b=np.ones((2, 2), np.float32)))
    assert found["a"].tolist() == [0, 1, 2]
    assert found["b"].dtype == np.float32


def test_damage_names_the_file(tmp_path):
    whole = saved(tmp_path / "x.npz", a=np.arange(3)).read_bytes()
    one = io.BytesIO()
    np.save(one, np.arange(3))
    header = whole.replace(b"'descr': '<i8'", b"'descr': (<i8'")
    for data in (b"", b"text", whole[:-30], one.getvalue(), header):
        (tmp_path / "y.npz").write_bytes(data)
        with pytest.raises(ValueError, match=r"y\.npz: is no .npz file of arrays"):
            read_npz(tmp_path / "y.npz")


def test_objects_are_not_read(tmp_path):
    objects = saved(tmp_path / "x.npz", a=np.array([{}], object))
    with pytest.raises(ValueError, match=r"x\.npz: is no .npz file of arrays"):
        read_npz(objects)


def test_a_folder_is_no_archive(tmp_path):
    with pytest.raises(ForeignFileError, match="is a directory"):
        read_npz(tmp_path)


def test_elements_with_fields_are_not_read(tmp_path):
    fields = saved(tmp_path / "x.npz", a=np.zeros(2, [("b", np.int32)]))
    with pytest.raises(ValueError, match=r"x\.npz: .* a\.npy: its elements are no numbers"):
        read_npz(fields)


def test_types_are_checked_before_an_array_is_unpacked(tmp_path):
    path, told = tmp_path / "x.npz", []
    np.savez_compressed(path, a=np.zeros((1 << 13, 1 << 13), np.int8), b=np.float16(1))

    def refuse(types):
        told.append({name: str(kind) for name, kind in types.items()})
        raise LookupError("not these")

    tracemalloc.start()
    with pytest.raises(LookupError, match="not these"):
        read_npz(path, refuse)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert told == [{"a": "int8[8192x8192]", "b": "float16[]"}]
    assert most < 1 << 24
