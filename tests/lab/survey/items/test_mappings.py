"""Figures 18 to 20: what is drawn for them, and what is kept of it."""

import json
import pickle
from dataclasses import replace

from celosia.lab.mappings.sample import COLUMNS
from celosia.lab.mappings.samplers import Sampler
from celosia.lab.survey.items.mapping_jobs import MappingJob
from celosia.lab.survey.items.mappings import STUDIES
from celosia.lab.survey.parts.paper import paper
from celosia.lab.survey.parts.values import Evidence, Scope

JOB = MappingJob(shape="32x32x32", sampler=Sampler.UNIFORM, count=5, picks=0, exhaust=False)
QUICK = Scope(quick=True)


def test_a_job_says_what_it_is_about():
    others = [replace(JOB, count=6), replace(JOB, sampler=Sampler.FACTORS), replace(JOB, picks=1)]
    assert len({JOB.key, *(job.key for job in others)}) == 4
    assert pickle.loads(pickle.dumps(JOB)) == JOB


def test_the_effort_of_a_job_is_that_of_its_plans_and_runs():
    """1,000 cycles for each plan; each run twice the array's cycles, 32 x 32 x 32 / 256 here."""
    assert JOB.array_cycles == 5 * 1000
    assert replace(JOB, picks=7).array_cycles == 5 * 1000 + 2 * 7 * 128
    every = replace(JOB, sampler=Sampler.EVERY, exhaust=True)
    plans = every._request(Sampler.EVERY).space.size
    assert every.array_cycles == (5 + plans // 2) * 1000


def test_what_is_drawn_is_kept():
    run = JOB.run()
    assert list(run.spread) == list(COLUMNS)
    assert JOB.kept(json.loads(json.dumps(run.document()))) == run
    assert (run.least, run.rtl) == ({}, {})


def test_numbers_stand_beside_the_surveys():
    (study,) = STUDIES
    jobs = study.jobs(QUICK)
    runs = {job: JOB.run() for job in jobs[:2]}
    item = study.make(Evidence(paper(), runs, QUICK))
    printed = {value.name: value.paper for value in item.values if value.paper is not None}
    assert printed == {
        f"ResNet-50 3x3, 512: energy x delay, {words} ({way}, 1,000 plans)": number
        for way in ("uniform", "factors")
        for words, number in (
            ("10th percentile over the least", 7.44),
            ("percent below 3 times the least", 1.58),
        )
    }
    assert "--quick" in item.missing


def test_the_whole_study_finds_the_best_and_runs_some():
    (study,) = STUDIES
    jobs = [job for job in study.jobs(Scope()) if isinstance(job, MappingJob)]
    assert {(job.count, job.picks) for job in jobs} == {(100_000, 50), (100_000, 0)}
    assert sum(job.exhaust for job in jobs) == 4
