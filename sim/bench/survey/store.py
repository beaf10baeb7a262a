"""Runs that were made, in the folder of the survey: what an interrupted survey goes on from."""

import json
from pathlib import Path
from typing import Final

from celosia.isa.foreign_file import MIB, ForeignFileError, read_text
from celosia.sim.bench.survey.parts.jobs import Job, Run
from celosia.sim.run.report import as_json
from celosia.sim.support.output import write_file

__all__ = ["RunStore"]

_FOLDER: Final = "runs"


class RunStore:
    """A file for each run, named by its settings, the RTL and the compiler."""

    def __init__(self, folder: Path):
        self._folder = folder / _FOLDER

    def load(self, job: Job) -> Run | None:
        """The run of `job`; None if there is none, or what is there is no whole run."""
        try:
            return Run.from_document(json.loads(read_text(self._path(job), MIB)))
        except (ForeignFileError, ValueError, TypeError, RecursionError):
            return None

    def save(self, job: Job, run: Run) -> None:
        """Keep `run`.  Raises `OutputError` if it cannot be written."""
        self._folder.mkdir(exist_ok=True)
        write_file(self._path(job), as_json(run.document()))

    def _path(self, job: Job) -> Path:
        return self._folder / f"{job.key}.json"
