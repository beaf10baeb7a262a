"""One random change of a file: its bytes, a word of its text, a value of its JSON, a member."""

import json
import random
import re
from collections.abc import Callable
from io import BytesIO
from typing import Any, Final
from zipfile import BadZipFile, ZipFile, ZipInfo

__all__ = ["damaged"]

_ZIP: Final = b"PK\x03\x04"
_WORD: Final = re.compile(r"-?\w[\w.]*")

_WORDS: Final = (
    *("", "-1", "0", "1", "2", "17", "65535", "65536", "4294967296", "99999999999999999999"),
    *("1e999", "nan", "-inf", "0x", "0xffffffffffffffffffff", "0.5", "true", "null", "None"),
    *("..", "/dev/zero", "\u0660\u0661", "\x00", "a" * 5000, "[" * 3000, "{", '"', "=", "#"),
)
"""What stands in place of a word: ends of ranges, other types, and text that no format has."""

_VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1, 3, 1 << 31, 1 << 64, 10**30, -0.0, 0.5, 1e300),
    *(float("nan"), float("inf"), "", "x", "-1", "a" * 3000, [], {}, [0], [[]], {"a": 1}),
)
"""What stands in place of a value of JSON."""


def damaged(data: bytes, rng: random.Random) -> bytes:
    """`data` after one change, drawn from `rng`; sometimes it is what it was."""
    ways: list[Callable[[bytes, random.Random], bytes]] = [_bytes_changed]
    if data.startswith(_ZIP):
        ways += [_member_changed] * 5
    if _is_text(data):
        ways += [_word_changed, _word_changed, _line_changed]
        if data.lstrip()[:1] in (b"{", b"["):
            ways += [_value_changed] * 4
    return rng.choice(ways)(data, rng)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def _bytes_changed(data: bytes, rng: random.Random) -> bytes:
    """Cut short, or with bytes that are wrong, missing, or too many."""
    way, place = rng.randrange(5), rng.randrange(max(1, len(data)))
    match way:
        case 0:
            return data[:place]
        case 1:
            wrong = bytes(byte ^ 1 << rng.randrange(8) for byte in data[place : place + 1])
            return data[:place] + wrong + data[place + 1 :]
        case 2:
            return data[:place] + data[place + rng.randrange(1, 9) :]
        case 3:
            return data[:place] + rng.randbytes(rng.randrange(1, 9)) + data[place:]
        case _:
            return data[:place] + b"9" * rng.choice((4, 30, 5000)) + data[place:]


def _word_changed(data: bytes, rng: random.Random) -> bytes:
    text = data.decode()
    words = list(_WORD.finditer(text))
    if not words:
        return data
    word = rng.choice(words)
    other = rng.choice((*_WORDS, rng.choice(words).group()))
    return (text[: word.start()] + other + text[word.end() :]).encode()


def _line_changed(data: bytes, rng: random.Random) -> bytes:
    """A line is gone, stands twice, or stands where another one was."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(3):
        case 0:
            del lines[place]
        case 1:
            lines.insert(other, lines[place])
        case _:
            lines[place], lines[other] = lines[other], lines[place]
    return b"".join(lines)


def _member_changed(data: bytes, rng: random.Random) -> bytes:
    """An archive that is sound, but for what one of its members holds, or whether it is there."""
    try:
        with ZipFile(BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except BadZipFile:
        return data
    name = rng.choice(sorted(members))
    if rng.randrange(8):
        members[name] = damaged(members[name], rng)
    else:
        del members[name]
    changed = BytesIO()
    with ZipFile(changed, "w") as archive:
        for each, content in members.items():
            archive.writestr(ZipInfo(each), content)
    return changed.getvalue()


def _value_changed(data: bytes, rng: random.Random) -> bytes:
    """Another value, a missing member, or one more, anywhere in the document."""
    try:
        document = json.loads(data)
    except ValueError:
        return data
    holders = list(_holders(document))
    if not holders:
        return data
    holder, key = rng.choice(holders)
    match rng.randrange(5):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[rng.choice(("", "x", "name"))] = rng.choice(_VALUES)
        case _:
            holder[key] = rng.choice(_VALUES)
    return json.dumps(document).encode()


def _holders(value: Any) -> list[tuple[Any, Any]]:
    """Every place of a value in a document: a list or an object, and an index or a key."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys = holder.keys() if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
    return found
