"""Damage is random, repeatable, and of every kind."""

import json
import random

import pytest

from celosia.lab.fuzz.files.damage import damaged

DOCUMENT = json.dumps({"a": [1, {"b": "x"}], "c": 2.5}).encode()


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff\xfe", b"a", b"[", b"{}", b"[[]]", DOCUMENT])
def test_anything_can_be_damaged(data):
    for seed in range(200):
        found = damaged(data, random.Random(seed))
        assert found == damaged(data, random.Random(seed))


def test_bytes_are_cut_flipped_lost_or_added():
    """Each of these four ways is seen in bytes that are no text, and no other way."""
    data, seen = bytes(range(256)), set()

    def way(found: bytes) -> str:
        more = len(found) - len(data)
        if data.startswith(found):
            return "cut"
        if not more:
            ((before, after),) = ((a, b) for a, b in zip(data, found, strict=True) if a != b)
            return "flipped" if (before ^ after).bit_count() == 1 else "other"
        if more < 0:
            places = range(len(found))
            lost = any(data[:at] + data[at - more :] == found for at in places)
            return "lost" if lost and -more <= 8 else "other"
        added = any(data[:at] + found[at : at + more] + data[at:] == found for at in range(256))
        return "added" if added and (more <= 8 or b"9" * more in found) else "other"

    for seed in range(400):
        seen.add(way(damaged(data, random.Random(seed))))
    assert seen == {"cut", "flipped", "lost", "added"}


def test_documents_lose_gain_and_change_values():
    found = [damaged(DOCUMENT, random.Random(seed)) for seed in range(400)]
    documents = []
    for data in found:
        try:
            documents.append(json.loads(data))
        except ValueError:
            continue
    assert any(document.keys() == {"a"} for document in documents if isinstance(document, dict))
    assert any("x" in document for document in documents if isinstance(document, dict))
    assert any(
        document.get("a", [0])[:1] == [None]
        for document in documents
        if "a" in document and isinstance(document["a"], list)
    )
    assert len(documents) < len(found)


def test_words_of_text_become_ends_of_ranges():
    found = {damaged(b"rows = 4\n", random.Random(seed)) for seed in range(300)}
    assert b"rows = 65536\n" in found
    assert b"rows = -1\n" in found
