"""Whether an FST file is whole."""

import struct

import pytest

from celosia.sim.wave.fst import is_whole


def block(kind: int, size: int) -> bytes:
    return struct.pack(">BQ", kind, size + 8) + bytes(size)


WHOLE = block(0, 321) + block(8, 100) + block(3, 40) + block(6, 50)


def test_whole(tmp_path):
    (tmp_path / "x").write_bytes(WHOLE)
    assert is_whole(tmp_path / "x")


@pytest.mark.parametrize(
    "data",
    [b"", WHOLE[:-1], WHOLE + b"\0", WHOLE[: -(9 + 50)], block(0, 321), WHOLE[330:], bytes(2000)],
)
def test_not_whole(tmp_path, data):
    (tmp_path / "x").write_bytes(data)
    assert not is_whole(tmp_path / "x")


@pytest.mark.parametrize(("kind", "whole"), [(4, True), (5, False), (6, True), (7, True)])
def test_there_are_three_kinds_of_hierarchies(kind, whole, tmp_path):
    """FST_BL_HIER, FST_BL_HIER_LZ4 and FST_BL_HIER_LZ4DUO of fstapi.h; 5 is a dynamic block."""
    (tmp_path / "x").write_bytes(block(0, 321) + block(3, 40) + block(kind, 50))
    assert is_whole(tmp_path / "x") is whole
