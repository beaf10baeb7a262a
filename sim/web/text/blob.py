"""Bytes that go into the page in one piece, and where each part of them is."""

__all__ = ["Blob", "Part"]

Part = tuple[int, int]
"""Where bytes begin in a blob, and how many they are."""


class Blob:
    """Parts one behind the other; one that is there already is not added again."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._known: dict[bytes, Part] = {}

    def add(self, data: bytes) -> Part:
        """Where the bytes are from now on."""
        if data not in self._known:
            self._known[data] = len(self.data), len(data)
            self.data += data
        return self._known[data]
