"""All faults, one after the other or side by side; what is known is not found out again."""

import json
import os
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from celosia.isa.foreign_file import MIB
from celosia.sim.mutate.patch import Patch, parse_patch
from celosia.sim.mutate.trial import LAYERS, Trial, try_fault
from celosia.sim.support.cache import digest
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress

__all__ = ["Campaign", "load_faults", "load_foreign"]


def load_faults(root: Path) -> list[Patch]:
    """The faults of the checkout."""
    paths = sorted((root / "tests" / "faults").glob("*.patch"))
    if not paths:
        raise InputError(f"{root / 'tests' / 'faults'}: there are no faults")
    return [parse_patch(path.read_text(), path.stem) for path in paths]


def load_foreign(path: str) -> Patch:
    """A fault from anywhere."""
    return parse_patch(read_text(path, MIB), path)


class Campaign:
    """Tries faults in copies of the checkout at `root`.

    Results are kept in `build/mutate.jsonl` under a name made from the patch and all sources, so
    that an interrupted campaign goes on where it was.
    """

    def __init__(self, root: Path, fresh: bool):
        self.root = root
        self._file = root / "build" / "mutate.jsonl"
        self._sources = _digest_of_sources(root)
        self._known = {} if fresh else self._read()
        self._running: set[int] = set()

    def run(self, faults: Sequence[Patch], jobs: int, tell: Progress) -> list[Trial]:
        """The result of each fault, in order."""
        results = {
            fault.name: self._known[key]
            for fault in faults
            if (key := self._key(fault)) in self._known
        }
        left = [fault for fault in faults if fault.name not in results]
        pool = ThreadPoolExecutor(jobs)
        try:
            futures = {pool.submit(try_fault, f, self.root, self._running): f for f in left}
            tell("planting faults", len(results) / len(faults))
            for future in as_completed(futures):
                fault, trial = futures[future], future.result()
                results[fault.name] = trial
                self._keep(fault, trial)
                tell(
                    f"{fault.name}: {'caught' if trial.caught_by else 'survived'}",
                    len(results) / len(faults),
                )
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            self._end()
            raise
        pool.shutdown()
        return [results[fault.name] for fault in faults]

    def _end(self) -> None:
        """Leave no process behind."""
        for process in list(self._running):
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)

    def _key(self, fault: Patch) -> str:
        return digest([self._sources, repr(fault)])

    def _read(self) -> dict[str, Trial]:
        known = {}
        with suppress(OSError):
            for line in self._file.read_text().splitlines():
                with suppress(ValueError, KeyError, TypeError):  # A line cut short.
                    entry = json.loads(line)
                    known[entry["key"]] = Trial(**entry["trial"])
        return known

    def _keep(self, fault: Patch, trial: Trial) -> None:
        self._file.parent.mkdir(exist_ok=True)
        with self._file.open("a") as file:
            file.write(json.dumps({"key": self._key(fault), "trial": asdict(trial)}) + "\n")


def _digest_of_sources(root: Path) -> str:
    files = sorted(
        path
        for folder in (*LAYERS, "tests")
        for path in (root / folder).rglob("*")
        if path.is_file() and path.suffix in {".py", ".h", ".cpp", ".cel"}
    )
    return digest(
        part for path in files for part in (str(path.relative_to(root)), path.read_bytes())
    )
