"""Programs of which several run at a time, and none outlives its use."""

import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from celosia.sim.support.errors import EnvironmentProblem

__all__ = ["Job", "run_jobs"]

_POLL_SECONDS: Final = 0.02
_WATCH_SECONDS: Final = 0.5
_TAIL_LINES: Final = 6
_LOG: Final = "output.log"


@dataclass(frozen=True)
class Job:
    """A program to run in a directory of its own."""

    name: str
    """What it works on, for who reads that it failed."""
    command: tuple[str, ...]
    work: Path

    def said(self) -> str:
        """What it has written to its outputs until now."""
        return (self.work / _LOG).read_text(errors="replace")


def _wait(_job: Job) -> bool:
    return False


def run_jobs(
    jobs: Iterable[Job], at_once: int, stops: Callable[[Job], bool] = _wait
) -> Generator[Job]:
    """Run `jobs`, and yield each when it has ended well, or was stopped.

    `stops` is asked now and then whether a job that runs shall be stopped.  Raises
    `EnvironmentProblem`, with the last lines of what it said, for the first that fails.  No
    program is left running when the iterator ends or is closed, whatever the reason.
    """
    waiting = deque(jobs)
    running: dict[Job, subprocess.Popen[bytes]] = {}
    asked = time.monotonic()
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                job = waiting.popleft()
                running[job] = _start(job)
            ended = [job for job, process in running.items() if process.poll() is not None]
            for job in ended:
                _check(job, running.pop(job).returncode)
                yield job
            if not ended:
                time.sleep(_POLL_SECONDS)
            if time.monotonic() - asked > _WATCH_SECONDS:
                for job in [job for job in running if stops(job)]:
                    _stop(running.pop(job))
                    yield job
                asked = time.monotonic()
    finally:
        for process in running.values():
            _stop(process)


def _start(job: Job) -> subprocess.Popen[bytes]:
    try:
        with open(job.work / _LOG, "wb") as log:
            return subprocess.Popen(
                job.command,
                cwd=job.work,
                env={**os.environ, "TMPDIR": str(job.work)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except FileNotFoundError as error:
        raise EnvironmentProblem(f"{job.command[0]}: {error.strerror}") from None


def _check(job: Job, code: int) -> None:
    if not code:
        return
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    said = [line for line in job.said().splitlines() if line.strip()][-_TAIL_LINES:]
    text = "\n".join([f"{job.name}: {Path(job.command[0]).name} {how}", *said])
    raise EnvironmentProblem(text)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a program and the programs that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
