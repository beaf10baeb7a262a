"""Runs that were made, in the folder of the survey: what an interrupted survey goes on from."""

from pathlib import Path
from typing import Any, Final

from celosia.isa.foreign_file import MIB, ForeignFileError, parse_json, read_text
from celosia.lab.survey.parts.jobs import Task
from celosia.sim.run.origin import as_json
from celosia.sim.support.output import write_file

__all__ = ["RunStore"]

_FOLDER: Final = "runs"


class RunStore:
    """A file for each run, named by its settings, the RTL and the compiler."""

    def __init__(self, folder: Path):
        self._folder = folder / _FOLDER

    def load(self, job: Task) -> Any:
        """What `job` has shown; None if that is not there, or not whole."""
        try:
            return job.kept(parse_json(read_text(self._path(job), MIB)))
        except (ForeignFileError, ValueError, TypeError):
            return None

    def save(self, job: Task, run: Any) -> None:
        """Keep `run`.  Raises `OutputError` if it cannot be written."""
        self._folder.mkdir(exist_ok=True)
        write_file(self._path(job), as_json(run.document()))

    def _path(self, job: Task) -> Path:
        return self._folder / f"{job.key}.json"
