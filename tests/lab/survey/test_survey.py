"""The survey: what is run, what is kept, and what is compared."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from celosia.lab.survey.parts.jobs import Job, Run, WrongRunError
from celosia.lab.survey.parts.values import Item, Scope, Study
from celosia.lab.survey.store import RunStore
from celosia.lab.survey.survey import (
    chosen_jobs,
    chosen_studies,
    differences,
    run_survey,
    study_ids,
)
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.support.workers import Lane
from celosia.sim.workloads.details import Matmul

LANES = (Lane(make=lambda: ThreadPoolExecutor(1)),)
JOBS = tuple(
    Job(workload="matmul", details=Matmul(shape=f"{n}x8x8"), array_cycles=n) for n in (1, 3, 2)
)


def made(evidence):
    values = [
        evidence.rtl("fig13", job.name, run.cycles, job) for job, run in evidence.runs.items()
    ]
    return Item(id="it", title="It", where="nowhere", values=tuple(values))


STUDY = Study(id="it", jobs=lambda _scope: JOBS, make=made)


class Runs:
    """Runs that are made up, of which one may be wrong."""

    def __init__(self, wrong=None):
        self.asked = []
        self.wrong = wrong

    def __call__(self, job):
        self.asked.append(job.array_cycles)
        if job.array_cycles == self.wrong:
            raise WrongRunError("wrong")
        return Run(
            cycles=job.array_cycles,
            macs=1,
            limit_cycles=1,
            dram_bytes=0,
            elements_checked=1,
            seconds=0.0,
        )


def run(tmp_path, runs, tell=silent):
    return run_survey([STUDY, STUDY], Scope(), RunStore(tmp_path), LANES, tell, runs)


def test_jobs_run_once_the_longest_first(tmp_path):
    runs, told = Runs(), []
    found = run(tmp_path, runs, lambda text, done: told.append((text, done)))
    assert runs.asked == [3, 2, 1]
    assert {value.ours for value in found.items[0].values} == {1, 2, 3}
    assert told[0][0] == "3 runs on the RTL, 6 cycles"
    assert [text for text, _ in told[1:]] == ["1 of 3 runs", "2 of 3 runs", "3 of 3 runs"]
    assert [done for _, done in told] == [0, 0.5, pytest.approx(5 / 6), 1]
    # The time that is left is said once, by who shows this.
    assert [text for text, _ in told[1:]] == [f"{n} of 3 runs" for n in (1, 2, 3)]


def test_it_goes_on_from_what_was_kept(tmp_path):
    with pytest.raises(WrongRunError):
        run(tmp_path, Runs(wrong=2))
    runs = Runs()
    run(tmp_path, runs)
    assert 3 not in runs.asked
    assert 2 in runs.asked
    runs = Runs()
    run(tmp_path, runs)
    assert not runs.asked


@pytest.mark.parametrize("text", ["", '{"cycles": 3', "[]", "{}", "null", "[" * 100_000, "\x00"])
def test_a_cut_run_is_made_again(tmp_path, text):
    run(tmp_path, Runs())
    (tmp_path / "runs" / f"{JOBS[1].key}.json").write_text(text)
    runs = Runs()
    run(tmp_path, runs)
    assert runs.asked == [3]


def test_a_quick_survey_is_quick():
    jobs = {job for study in chosen_studies(None) for job in study.jobs(Scope(quick=True))}
    assert sum(job.array_cycles for job in jobs) < 76_000_000
    settings = [job.settings() for job in jobs]
    assert {each["preset"] for each in settings} == {"base"}
    assert not any("set" in each for each in settings)


def test_tenths_are_the_whole():
    studies = chosen_studies(None)
    tenths = [chosen_jobs(studies, Scope(tenth=tenth)) for tenth in range(10)]
    assert [job for jobs in tenths for job in jobs] == chosen_jobs(studies, Scope())


def test_a_tenth_has_what_follows_from_its_runs(tmp_path):
    runs = Runs()
    found = run_survey([STUDY], Scope(tenth=0), RunStore(tmp_path), LANES, silent, runs)
    assert runs.asked == [1]
    assert found.document()["tenth"] == 0
    assert [value.ours for value in found.items[0].values] == [1]


def test_items_are_chosen_in_the_order_of_the_page():
    assert [study.id for study in chosen_studies("tab5, tab3")] == ["tab3", "tab5"]
    assert len(chosen_studies(None)) == len(study_ids()) == 16


@pytest.mark.parametrize("only", ["", ",", "tab3,", "tab3,,tab4", "Tab3", "fig99", "tab3;tab4"])
def test_what_is_no_item(only):
    with pytest.raises(InputError, match=r"--only .*: there is no item .*; there are tab3, "):
        chosen_studies(only)


def test_only_numbers_are_compared(tmp_path):
    first = json.loads(json.dumps(run(tmp_path, Runs()).document()))
    second = json.loads(json.dumps(first))
    assert not list(differences(first, second))
    second["versions"] = {}
    second["items"][0]["values"][0]["netlist"] = "another"
    assert not list(differences(first, second))
    value = second["items"][0]["values"][0]
    value["ours"] += 1
    (line,) = list(differences(first, second))
    assert line == f"it: {value['name']}: {value['ours']} instead of {value['ours'] - 1}"
    value["ours"] = None
    assert not list(differences(first, second))
