"""Archives of arrays, whole and damaged."""

import io
import os
import tracemalloc
from zipfile import ZipFile

import numpy as np
import pytest

from celosia.isa.foreign_file import ForeignFileError
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.quantize.graphs.files.archives import check_archive, npz_types, read_npz


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


@pytest.mark.parametrize(("permitted", "memory"), [(100, 100), (None, 100), (99, 100), (100, 99)])
def test_an_archive_unpacks_to_what_is_permitted_and_memory_has(permitted, memory, monkeypatch):
    sizes = {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": memory}
    with ZipFile(io.BytesIO(), "w") as archive:
        archive.writestr("a", b"x" * 60)
        archive.writestr("b", b"x" * 40)
        monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
        if 99 not in {permitted, memory}:
            check_archive(archive, permitted)
        else:
            what = "the 99 that are permitted" if permitted == 99 else "this machine's memory of 99"
            with pytest.raises(ValueError, match=f"unpacked it has 100 bytes, more than {what}"):
                check_archive(archive, permitted)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_headers_are_of_the_first_two_versions(version, tmp_path):
    """The third is for names of fields, which no array of numbers has."""
    member, path = io.BytesIO(), tmp_path / "x.npz"
    np.lib.format.write_array(member, np.ones((2, 3), np.int16), version)
    with ZipFile(path, "w") as archive:
        archive.writestr("a.npy", member.getvalue())
    if version == (3, 0):
        with pytest.raises(ValueError, match=r"arrays of version \(3, 0\) are not supported"):
            npz_types(path)
    else:
        assert npz_types(path) == {"a": TensorType("int16", (2, 3))}
        assert read_npz(path)["a"].tolist() == [[1] * 3] * 2
