"""A sweep: points that are not known yet, given to workers; each becomes a line when it ends."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from celosia.lab.sweep.lines import Lines, open_lines
from celosia.lab.sweep.point import SIMULATORS, Done, Line, Point, evaluate, line_of
from celosia.sim.support.output import write_file
from celosia.sim.support.progress import Progress
from celosia.sim.support.words import counted
from celosia.sim.support.workers import Lane, Lost, run_on

__all__ = ["RUNS", "run_sweep"]

RUNS: Final = "runs"
"""The folder of the reports of runs, each named by its point's key."""


def run_sweep(
    points: Sequence[Point],
    lanes: Iterable[Lane],
    folder: Path,
    tell: Progress,
    compute: Callable[[Point], Done] = evaluate,
) -> list[Line]:
    """The lines of all `points`, in their order; what `folder` holds is not computed again.

    A point whose worker ends each time comes back as a line ``failed``, which is not kept: the next
    sweep tries it again.
    """
    with open_lines(folder) as lines:
        for point in points:
            if point.refused and point.key not in lines.known:
                lines.add(line_of(point, refused=point.refused))
        left = [point for point in points if point.key not in lines.known]
        with closing(run_on(lanes, compute, left, SIMULATORS)) as results:
            for number, (point, done) in enumerate(results, 1):
                _keep(lines, folder, point, done)
                tell(f"{number} of {counted(len(left), 'point')}", number / len(left))
        return [lines.known[point.key] for point in points]


def _keep(lines: Lines, folder: Path, point: Point, done: Done | Lost) -> None:
    """Write what became of a point: the report first, so that a line has one."""
    if isinstance(done, Lost):
        lines.known[point.key] = line_of(point, failed=f"its worker ended {done.attempts} times")
        return
    if done.report is not None:
        _write_report(folder / RUNS, point.key, done.report)
    lines.add(done.line)


def _write_report(folder: Path, key: str, report: Mapping[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    write_file(folder / f"{key}.json", json.dumps(report, indent=1) + "\n")
