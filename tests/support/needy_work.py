"""Work that needs something which is not there yet, for tests of those who give work to workers."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Needy", "nothing_stands", "wait_for_another_kind"]

_TIMES: Final = 1000


@dataclass(frozen=True)
class Needy:
    """An item of a kind, in whose folder each process that begins with it leaves a file."""

    kind: str
    number: int
    folder: str


def nothing_stands(kind: str) -> bool:
    """Whether there is what a kind needs: never."""
    return False


def wait_for_another_kind(item: Needy) -> bool:
    """Whether another process begins with an item of another kind while this one has its own."""
    folder = Path(item.folder)
    (folder / item.kind).touch()
    for _ in range(_TIMES):
        if len(list(folder.iterdir())) > 1:
            return True
        time.sleep(0.01)
    return False
