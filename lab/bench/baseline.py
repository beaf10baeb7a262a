"""The committed cycle counts of benchmarks: a run that takes longer is a regression."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from celosia.sim.support.problems import InputError

__all__ = ["TOLERANCE", "CaseKey", "load_baseline", "regressed", "save_baseline"]

TOLERANCE: Final = 5
"""The growth of a run's cycles, in thousandths, that is no regression yet."""

CaseKey = tuple[str, str]
"""The name of a benchmark, and how its commands came."""


def load_baseline(path: Path) -> dict[CaseKey, int]:
    """The cycles of each benchmark in the file at `path`: a JSON object per line.

    Raises `InputError` that names the line for a file that is none.
    """
    cycles: dict[CaseKey, int] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            entry = json.loads(line)
            cycles[str(entry["name"]), str(entry["issue"])] = int(entry["cycles"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}, line {number}: no name, issue and cycles: {error}") from None
    return cycles


def regressed(cycles: int, baseline: int | None) -> bool:
    """Whether `cycles` are more than the baseline allows; None: there is none."""
    return baseline is not None and 1000 * cycles > (1000 + TOLERANCE) * baseline


def save_baseline(
    path: Path, measured: Iterable[tuple[CaseKey, int]], kept: Mapping[CaseKey, int]
) -> None:
    """Write `measured` into the file at `path`, beside those of `kept` that were not measured."""
    cycles = {**kept, **dict(measured)}
    lines = (
        json.dumps({"name": name, "issue": issue, "cycles": count})
        for (name, issue), count in sorted(cycles.items())
    )
    path.write_text("".join(f"{line}\n" for line in lines))
