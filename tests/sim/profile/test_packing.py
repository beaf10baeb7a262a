"""Numbers as short texts and back, and texts that are none."""

import base64
import zlib

import numpy as np
import pytest

from celosia.sim.profile import packing
from celosia.sim.profile.packing import pack, pack_bytes, unpack, unpack_bytes


@pytest.mark.parametrize(
    "numbers",
    [[], [0], [5, 5, 5], [-1, 7, -(1 << 30), (1 << 30) - 1], [(1 << 31) - 1], [-(1 << 31)]],
)
def test_numbers_come_back(numbers):
    found = unpack(pack(np.array(numbers, np.int64)))
    assert found.dtype == np.int64
    assert found.tolist() == numbers


def test_a_text_is_base64_of_zlib_of_little_endian_differences():
    data = zlib.decompress(base64.b64decode(pack(np.array([3, 5, 4]))))
    assert data == bytes([3, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("é", "ASCII"),
        ("AAA", "padding"),
        ("*AAA", "base64"),
        (base64.b64encode(b"plain").decode(), "not compressed: Error"),
        (base64.b64encode(zlib.compress(b"12345678")[:-3]).decode(), "not compressed: cut short"),
    ],
)
def test_other_texts_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        unpack_bytes(text)


def test_what_unpacks_to_more_than_is_allowed_is_refused(monkeypatch):
    monkeypatch.setattr(packing, "_MOST_BYTES", 1000)
    assert unpack_bytes(pack_bytes(bytes(999))) == bytes(999)
    with pytest.raises(ValueError, match="cut short, or more than 1,000 bytes"):
        unpack_bytes(pack_bytes(bytes(1001)))
    with pytest.raises(ValueError, match="multiple of element size"):
        unpack(pack_bytes(bytes(5)))
