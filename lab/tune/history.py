"""What earlier searches ran on the RTL: what a learned model of cycles begins with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from celosia.isa.foreign_file import parse_json
from celosia.lab.sweep.version import whole_version
from celosia.lab.tune.cost_model import Sample
from celosia.lab.tune.features import FEATURES, Seen
from celosia.lab.tune.tuning_log import Entry, LogHead, read_log

__all__ = ["History", "history_beside", "samples_of", "seen_by"]

_HEAD_BYTES: Final = 4096
"""More than the first line of a log has."""


@dataclass(frozen=True)
class History:
    """The runs of other logs in a folder."""

    samples: tuple[Sample, ...] = ()
    logs: int = 0
    """How many logs they are of."""
    left_out: int = 0
    """Logs of other sources, of which nothing is learned: their plans may take other cycles now."""


def history_beside(storage: Path) -> History:
    """The runs of all other logs in the folder of `storage`, of the sources that run here.

    Files that are no tuning logs do not count.  Raises `InputError` for a damaged log.
    """
    samples: list[Sample] = []
    logs, left_out = 0, 0
    for path in _logs_beside(storage):
        head, entries = read_log(path)
        if head.version != whole_version():
            left_out += 1
        elif found := samples_of(entries):
            samples += found
            logs += 1
    return History(tuple(samples), logs, left_out)


def samples_of(entries: Sequence[Entry]) -> list[Sample]:
    """The trials that ran on the RTL."""
    seen = ((entry.cycles, seen_by(entry)) for entry in entries)
    return [Sample(each, cycles) for cycles, each in seen if cycles is not None and each]


def seen_by(entry: Entry) -> Seen | None:
    """What the plan of a trial looked like; None: it did not run on the RTL."""
    if entry.predicted is None or entry.features is None:
        return None
    return Seen(entry.predicted, dict(zip(FEATURES, entry.features, strict=True)))


def _logs_beside(storage: Path) -> Iterator[Path]:
    folder = storage.parent
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name != storage.name and path.is_file() and _begins_a_log(path):
            yield path


def _begins_a_log(path: Path) -> bool:
    """Whether the first line says that the file is a log of runs on the RTL."""
    try:
        with path.open("rb") as file:
            line, _, _ = file.read(_HEAD_BYTES).partition(b"\n")
        head = parse_json(line.decode())
    except (OSError, ValueError):
        return False
    return isinstance(head, dict) and (head.get("schema"), head.get("oracle")) == (
        LogHead.schema,
        "rtl",
    )
