"""Programs run side by side, and are ended with what started them."""

import os
import sys
import time
from contextlib import closing
from itertools import count

import pytest

from celosia.sim.export.silicon.synthesis.jobs import Job, run_jobs
from celosia.sim.support.errors import EnvironmentProblem

NUMBERS = count()


def job(folder, program: str) -> Job:
    work = folder / f"job{next(NUMBERS)}"
    work.mkdir()
    return Job(f"module {work.name}", (sys.executable, "-c", program), work)


def test_each_runs_in_its_directory(tmp_path):
    jobs = [job(tmp_path, "open('made', 'w').close()") for _ in range(3)]
    assert {each.name for each in run_jobs(jobs, 2)} == {each.name for each in jobs}
    assert all((each.work / "made").exists() for each in jobs)


def test_no_more_than_permitted_at_a_time(tmp_path):
    """Each makes a folder beside its own, and takes it away: two at a time would meet there."""
    program = "import os, time; os.mkdir('../busy'); time.sleep(0.05); os.rmdir('../busy')"
    jobs = [job(tmp_path, program) for _ in range(3)]
    assert [*run_jobs(iter(jobs), 1)] == jobs


def test_a_failure_is_told_with_its_last_lines(tmp_path):
    bad = job(tmp_path, "print('reading'); print('ERROR: no such thing'); raise SystemExit(3)")
    with pytest.raises(EnvironmentProblem) as caught:
        list(run_jobs([bad], 1))
    message = str(caught.value)
    assert message.startswith(f"{bad.name}: ")
    assert message.endswith("ended with exit code 3\nreading\nERROR: no such thing")


def test_a_program_that_is_not_there(tmp_path):
    with pytest.raises(EnvironmentProblem, match="/no/such: No such file"):
        list(run_jobs([Job("x", ("/no/such",), tmp_path)], 1))


SLOW = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"


def began(slow: Job) -> bool:
    """Whether a job of `SLOW` runs, or has run."""
    pid = slow.work / "pid"
    return pid.exists() and bool(pid.read_text())


def is_over(slow: Job) -> bool:
    try:
        os.kill(int((slow.work / "pid").read_text()), 0)
    except ProcessLookupError:
        return True
    return False


def test_nothing_is_left_running(tmp_path):
    slow, quick = job(tmp_path, SLOW), job(tmp_path, "pass")
    with closing(run_jobs([slow, quick], 2)) as ended:
        assert next(ended) is quick
        while not began(slow):
            time.sleep(0.01)
    assert is_over(slow)


def test_one_that_is_stopped_is_yielded_like_one_that_ended(tmp_path):
    slow, quick = job(tmp_path, SLOW), job(tmp_path, "pass")
    with closing(run_jobs([slow, quick], 1, began)) as ended:
        assert next(ended) is slow
        assert is_over(slow)
        assert list(ended) == [quick]
