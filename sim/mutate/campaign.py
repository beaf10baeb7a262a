"""All faults, one after the other or side by side; what is known is not found out again."""

import json
import os
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from celosia.sim.mutate.fault import Fault
from celosia.sim.mutate.mirrors import LAYERS
from celosia.sim.mutate.trial import PLANTED, Rules, Trial, try_fault
from celosia.sim.support.cache import digest
from celosia.sim.support.progress import Progress

__all__ = ["Campaign"]


class Campaign:
    """Tries faults in copies of the checkout at `root`.

    Results are kept in `build/mutate.jsonl` under a name made from the fault, the rules and all
    sources, so that an interrupted campaign goes on where it was.
    """

    def __init__(self, root: Path, fresh: bool, rules: Rules = PLANTED):
        self.root = root
        self._rules = rules
        self._file = root / "build" / "mutate.jsonl"
        self._sources = _digest_of_sources(root)
        self._known = {} if fresh else self._read()
        self._running: set[int] = set()

    def run(self, faults: Sequence[Fault], jobs: int, tell: Progress) -> list[Trial]:
        """The result of each fault, in order."""
        results = {
            fault.name: self._known[key]
            for fault in faults
            if (key := self._key(fault)) in self._known
        }
        left = [fault for fault in faults if fault.name not in results]
        if not left:
            return [results[fault.name] for fault in faults]
        pool = ThreadPoolExecutor(jobs)
        try:
            futures = {pool.submit(self._try, f): f for f in left}
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

    def _try(self, fault: Fault) -> Trial:
        return try_fault(fault, self.root, self._rules, self._running)

    def _end(self) -> None:
        """Leave no process behind."""
        for process in list(self._running):
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)

    def _key(self, fault: Fault) -> str:
        return digest([self._sources, repr(self._rules), repr(fault)])

    def _read(self) -> dict[str, Trial]:
        known = {}
        with suppress(OSError):
            for line in self._file.read_text().splitlines():
                with suppress(ValueError, KeyError, TypeError, RecursionError):  # A line cut short.
                    entry = json.loads(line)
                    known[entry["key"]] = Trial(**entry["trial"])
        return known

    def _keep(self, fault: Fault, trial: Trial) -> None:
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
