"""Figures 21 and 22: what runs for them, and how the two effects of fusing are told apart."""

import json
import pickle
from dataclasses import replace

import pytest

from celosia.sim.bench.survey.items.pair_jobs import AS_COMPILED, PAIRS, SERIAL, PairJob
from celosia.sim.bench.survey.items.pairs import STUDIES
from celosia.sim.bench.survey.parts.jobs import Run
from celosia.sim.bench.survey.parts.paper import paper
from celosia.sim.bench.survey.parts.values import Evidence, Scope

JOB = PairJob(
    pair="scores and softmax",
    tokens=512,
    heads=12,
    accumulator_kib=64,
    spilled=True,
    mode=SERIAL,
)
CYCLES = {(True, SERIAL): 400, (True, AS_COMPILED): 200, (False, SERIAL): 100, (False, ""): 50}


def run_of(job):
    cycles = CYCLES.get((job.spilled, job.mode), 50)
    return Run(cycles=cycles, macs=1, limit_cycles=1, dram_bytes=1, elements_checked=1, seconds=1)


def made(scope):
    (study,) = STUDIES
    runs = {job: run_of(job) for job in study.jobs(scope)}
    return {value.name: value for value in study.make(Evidence(paper(), runs, scope)).values}


def test_a_job_says_what_it_is_about():
    others = [
        replace(JOB, pair="down and normalization"),
        replace(JOB, accumulator_kib=128),
        replace(JOB, spilled=False),
        replace(JOB, mode=AS_COMPILED),
    ]
    assert len({JOB.key, *(job.key for job in others)}) == 5
    assert pickle.loads(pickle.dumps(JOB)) == JOB
    assert JOB.array_cycles == 12 * 512 * 512 * 64 // 256
    assert others[0].array_cycles == 512 * 768 * 3072 // 256
    assert others[1].config.accumulator_kib == 128


def test_a_job_runs_on_the_rtl_and_is_kept():
    job = replace(JOB, tokens=16, heads=1)
    run = job.run()
    assert run.elements_checked == 2 * 16 * 16, "scores and probabilities"
    assert job.kept(json.loads(json.dumps(run.document()))) == run


def test_spilling_and_overlapping_are_told_apart():
    found = made(Scope(quick=True))
    pair = "l=512, accumulator 64 KiB: scores and softmax: percent of cycles"
    assert {name: v.ours for name, v in found.items() if name.startswith(pair)} == {
        f"{pair} by not spilling, as compiled": -75,
        f"{pair} by not spilling, units by turns": -75,
        f"{pair} by overlapping, sums through memory": -50,
        f"{pair} by overlapping, sums kept": -50,
        f"{pair} by both": -87.5,
    }
    assert not any("down" in name for name in found)


def test_the_survey_stands_beside_the_change_by_both():
    found = made(Scope())
    printed = {name: v.paper for name, v in found.items() if v.paper is not None}
    assert all(name.endswith("percent of cycles by both") for name in printed)
    assert len(printed) == len(paper().tables["fig21"]["values"]) == 9
    jobs = STUDIES[0].jobs(Scope())
    assert {job.pair for job in jobs if isinstance(job, PairJob)} == set(PAIRS)


def test_heads_that_do_not_run_count_in_both_of_attention():
    """At l = 4096 one head stands for twelve: 12 x 50 + 50 cycles of 12 x 400 + 400."""
    name = "l=4096, accumulator 256 KiB: both of attention: percent of cycles by both"
    assert made(Scope())[name].ours == pytest.approx(-87.5)
