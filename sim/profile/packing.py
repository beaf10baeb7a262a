"""Arrays of whole numbers as short texts in JSON: base64 of zlib of 32-bit differences."""

import base64
import zlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["pack", "pack_bytes", "unpack", "unpack_bytes"]

_LEVEL = 6
_MOST_BYTES = 256 << 20
"""The bytes that no unpacked log or program exceeds: some texts grow a thousandfold when unpacked.
"""


def pack(numbers: NDArray[np.int64]) -> str:
    """`numbers`, which fit into 32 bits with a sign, as text."""
    differences = np.diff(numbers, prepend=0)
    return pack_bytes(differences.astype("<i4").tobytes())


def unpack(text: str) -> NDArray[np.int64]:
    """The numbers that `pack` made `text` of.  Raises `ValueError` for another text."""
    return np.cumsum(np.frombuffer(unpack_bytes(text), "<i4").astype(np.int64))


def pack_bytes(data: bytes) -> str:
    """`data` as text."""
    return base64.b64encode(zlib.compress(data, _LEVEL)).decode()


def unpack_bytes(text: str) -> bytes:
    """What `pack_bytes` made `text` of.  Raises `ValueError` for another text."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(base64.b64decode(text, validate=True), _MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"not compressed: {error}") from None
    if not stream.eof:
        raise ValueError(f"not compressed: cut short, or more than {_MOST_BYTES:,} bytes")
    return data
