"""One damaged file: what the command that reads it must not do with it."""

import os
import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from celosia.lab.fuzz.files.command import BUILDING_SECONDS, SECONDS, Ended, celosia
from celosia.lab.fuzz.files.damage import damaged
from celosia.lab.fuzz.files.kinds import FileKind, kinds
from celosia.sim.support.guard import BAD_INPUT, WRONG
from celosia.sw.rewriting.mistakes import MISTAKE

__all__ = ["Attempt", "attempt"]

_FINE: Final = (0, WRONG, BAD_INPUT)
_SHOWN: Final = 2000
"""Characters of the end of what a command printed, which a finding shows."""


@dataclass(frozen=True)
class Attempt:
    """What was tried."""

    kind: str
    file: str
    words: tuple[str, ...]
    data: bytes
    """The damaged file."""
    why: str
    """What is wrong with how the command ended; nothing if it was right."""


def attempt(seed: int, chosen: tuple[str, ...] = ()) -> Attempt:
    """Damage a file and read it; the same seed does the same, but for the paths of folders.

    `chosen` are names of `KINDS`; none stands for all that this installation can read.
    """
    rng = random.Random(f"celosia file {seed}")
    permitted = kinds(chosen)
    (name,) = rng.choices([*permitted], [kind.weight for kind in permitted.values()])
    kind, good = permitted[name], _good(name)
    file = kind.file or rng.choice(sorted(good))
    data = damaged(good[file], rng)
    with _folder({**good, file: data}):
        before = _contents()
        ended = celosia(kind.words, kind.cache_folder, _seconds(kind))
        why = _wrong(kind, ended, before)
    return Attempt(name, file, kind.words, data, why)


def _seconds(kind: FileKind) -> float:
    return BUILDING_SECONDS if kind.cache_folder else SECONDS


def _wrong(kind: FileKind, ended: Ended, before: Mapping[str, bytes]) -> str:
    said = ended.output[-_SHOWN:]
    if ended.code not in _FINE or "Traceback" in ended.output:
        return f"exit code {ended.code}: {said}"
    if MISTAKE in " ".join(ended.output.split()):
        return f"a mistake: {said}"
    if kind.cache_folder:
        return "" if ended.code == 0 else f"not made again: {said}"
    if ended.code == BAD_INPUT:
        after = _contents()
        changed = {name for name in {*after, *before} if after.get(name) != before.get(name)}
        if changed:
            return f"exit code 2, but it wrote {', '.join(sorted(changed))}"
        return "" if said.strip() else "exit code 2 without a word"
    return ""


@cache
def _good(name: str) -> Mapping[str, bytes]:
    with _folder({}):
        return dict(kinds()[name].make())


@contextmanager
def _folder(files: Mapping[str, bytes]) -> Iterator[None]:
    """A folder with these files, which is the current one meanwhile."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="celosia-fuzz-") as folder:
        os.chdir(folder)
        try:
            for name, data in files.items():
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                Path(name).write_bytes(data)
            yield
        finally:
            os.chdir(before)


def _contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}
