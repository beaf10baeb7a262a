"""All faults, one after the other or side by side; what is known is not found out again."""

import json
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path

from celosia.isa.foreign_file import parse_json
from celosia.lab.mutate.fault import Fault
from celosia.lab.mutate.mirrors import LAYERS
from celosia.lab.mutate.trial import PLANTED, Ended, Rules, Trial, try_fault
from celosia.sim.support.cache import digest
from celosia.sim.support.progress import Progress
from celosia.sim.support.workers import Lane, Lost, lanes_of, parse_executor, run_on

__all__ = ["Campaign", "trial_lanes"]


@contextmanager
def trial_lanes(executor: str) -> Iterator[Sequence[Lane]]:
    """What `--executor` names, for trials.  Raises what `lanes_of` raises."""
    kind, place = parse_executor(executor)
    if kind == "local":
        # A trial is a process of its own, which a thread waits for.
        yield (Lane(make=_thread),) * int(place)
    else:
        with lanes_of(executor) as lanes:
            yield lanes


def _thread() -> Executor:
    return ThreadPoolExecutor(1)


class Campaign:
    """Tries faults in copies of the checkout at `root`, which has the same place on each machine.

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

    def run(self, faults: Sequence[Fault], lanes: Sequence[Lane], tell: Progress) -> list[Trial]:
        """The result of each fault, in order."""
        results = {
            fault.name: self._known[key]
            for fault in faults
            if (key := self._key(fault)) in self._known
        }
        left = [fault for fault in faults if fault.name not in results]
        if not left:
            return [results[fault.name] for fault in faults]
        tell("planting faults", len(results) / len(faults))
        work = partial(try_fault, root=self.root, rules=self._rules, running=self._running)
        try:
            with closing(run_on(lanes, work, left)) as found:
                for fault, result in found:
                    results[fault.name] = trial = self._kept(fault, result)
                    said = "caught" if trial.caught_by else "survived"
                    tell(f"{fault.name}: {said}", len(results) / len(faults))
        except BaseException:
            self._end()
            raise
        return [results[fault.name] for fault in faults]

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
                with suppress(ValueError, KeyError, TypeError):  # A line cut short.
                    entry = parse_json(line)
                    known[entry["key"]] = Trial(**entry["trial"])
        return known

    def _kept(self, fault: Fault, trial: Trial | Lost) -> Trial:
        """The result of a fault, written down unless its workers ended each time."""
        if isinstance(trial, Lost):
            return Trial(fault.name, fault.title, "", 0, Ended.KILLED)
        self._file.parent.mkdir(exist_ok=True)
        with self._file.open("a") as file:
            file.write(json.dumps({"key": self._key(fault), "trial": asdict(trial)}) + "\n")
        return trial


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
