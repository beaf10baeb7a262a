"""Figures 21 and 22: what runs for them, and what is compared with what."""

import json
import pickle
from dataclasses import replace

import pytest

from celosia.isa.encoding import FENCE
from celosia.lab.graphs.pairs import linear_norm_case, scores_case
from celosia.lab.survey.items.pair_jobs import AS_CHOSEN, BY_TURNS, FORMS, PAIRS, PairJob
from celosia.lab.survey.items.pairs import STUDIES
from celosia.lab.survey.parts.jobs import Run
from celosia.lab.survey.parts.paper import paper
from celosia.lab.survey.parts.values import Evidence, Scope
from celosia.sw.planning.forms.plan import simple_stages
from celosia.sw.planning.forms.stages import LinearStage

JOB = PairJob(
    pair="scores and softmax",
    tokens=512,
    heads=12,
    accumulator_kib=64,
    form="apart",
    mode=BY_TURNS,
)
PLAIN = ("apart", "norm apart", "fused", "whole rows")
"""Forms whose tensors of 32 bits all are in memory; those of attention stay on the chip."""
CYCLES = {
    ("apart", BY_TURNS): 400,
    ("apart", AS_CHOSEN): 320,
    ("norm apart", AS_CHOSEN): 250,
    ("fused", BY_TURNS): 240,
    ("fused", AS_CHOSEN): 200,
    ("whole rows", AS_CHOSEN): 300,
    ("as attention", AS_CHOSEN): 160,
}


def run_of(job):
    cycles = CYCLES[job.form, job.mode]
    return Run(cycles=cycles, macs=1, limit_cycles=1, dram_bytes=1, elements_checked=1, seconds=1)


def made(scope):
    (study,) = STUDIES
    runs = {job: run_of(job) for job in study.jobs(scope)}
    return {value.name: value for value in study.make(Evidence(paper(), runs, scope)).values}


def test_a_job_says_what_it_is_about():
    others = [
        replace(JOB, pair="down and normalization"),
        replace(JOB, accumulator_kib=128),
        replace(JOB, form="fused"),
        replace(JOB, mode=AS_CHOSEN),
    ]
    assert len({JOB.key, *(job.key for job in others)}) == 5
    assert pickle.loads(pickle.dumps(JOB)) == JOB
    assert JOB.array_cycles == 12 * 512 * 512 * 64 // 256
    assert others[0].array_cycles == 512 * 768 * 3072 // 256
    assert others[1].config.accumulator_kib == 128
    both = replace(JOB, pair="scores, softmax and context")
    assert both.array_cycles == 2 * JOB.array_cycles


@pytest.mark.parametrize(
    ("pair", "form"),
    [(pair, form) for pair, (_, forms) in PAIRS.items() for form in forms if form in PLAIN],
)
def test_sums_of_32_bits_are_in_memory_where_operators_are_apart_and_nowhere_else(pair, form):
    graph = replace(JOB, tokens=16, heads=1, pair=pair, form=form)._case().graph
    computed = {view.tensor for op in graph.ops for view in op.results}
    assert any(graph.tensors[name].type == "int32" for name in computed) == (form == "apart")


@pytest.mark.parametrize(
    ("pair", "form", "elements"),
    [
        ("scores and softmax", "apart", 2 * 16 * 16),
        ("scores, softmax and context", "apart", 2 * 16 * 16 + 16 * 64),
        ("scores, softmax and context", "as attention", 16 * 64),
    ],
)
def test_a_job_runs_on_the_rtl_and_is_kept(pair, form, elements):
    job = replace(JOB, tokens=16, heads=1, pair=pair, form=form)
    run = job.run()
    assert run.elements_checked == elements
    assert job.kept(json.loads(json.dumps(run.document()))) == run


def test_every_form_has_the_compilers_own_choices():
    """Two heads with an accumulator of 256 KiB: default choices would take blocks of 64 rows."""
    case = scores_case(2, 512, 64, 0, spilled=False)
    job = replace(JOB, heads=2, accumulator_kib=256, form="fused")
    for mode in (BY_TURNS, AS_CHOSEN):
        stages = list(simple_stages(replace(job, mode=mode).compiled(case).plan))
        assert [max(stage.rows) for stage in stages if isinstance(stage, LinearStage)] == [16, 16]


def test_forms_differ_in_what_they_fuse():
    job = replace(JOB, pair="output and normalization", tokens=48, mode=AS_CHOSEN)
    kept = linear_norm_case(48, 768, 768, 0, spilled=False)
    stages = {}
    for form in ("norm apart", "fused", "whole rows"):
        stages[form] = [
            stage.kind for stage in simple_stages(replace(job, form=form).compiled(kept).plan)
        ]
    assert stages == {
        "norm apart": ["linear", "norm"],
        "fused": ["linear"],
        "whole rows": ["linear"],
    }
    spilled = linear_norm_case(48, 768, 768, 0, spilled=True)
    plan = replace(job, form="apart").compiled(spilled).plan
    assert [stage.kind for stage in simple_stages(plan)] == ["linear", "linear", "norm"]


def test_loads_are_not_fenced_from_products():
    case = scores_case(1, 64, 64, 0, spilled=False)
    job = replace(JOB, heads=1, tokens=64, form="fused")
    turns = job.compiled(case)
    fence = FENCE.encode()
    fenced = [
        type(written.op).__name__
        for written, commands in zip(turns.ops, turns.commands[1:], strict=True)
        if fence in commands
    ]
    assert fenced
    assert set(fenced) <= {"Products", "Transform"}


def test_what_is_compared_with_what():
    found = made(Scope())
    pair = "l=512, accumulator 64 KiB: output and normalization: percent of cycles"
    assert {n: v.ours for n, v in found.items() if n.startswith(pair)} == pytest.approx({
        f"{pair}, fused": -37.5,
        f"{pair}, fused, by turns": -40,
        f"{pair}, overlapped, apart": -20,
        f"{pair}, overlapped, fused": -100 / 6,
        f"{pair}, fused and overlapped": -50,
        f"{pair}, only the norm fused": -20,
        f"{pair}, whole rows, over fused": 50,
        f"{pair}, whole rows, over apart": -6.25,
        f"{pair}, as the survey fuses": -25,
    })
    attention = "l=2048, accumulator 64 KiB: scores, softmax and context: percent of cycles"
    assert found[f"{attention}, as attention"].ours == -50


def test_the_survey_stands_beside_what_it_fuses():
    """Whole rows over operators by themselves: nothing else is like its number."""
    found = made(Scope())
    printed = {name: v.paper for name, v in found.items() if v.paper is not None}
    assert all(name.endswith("percent of cycles, as the survey fuses") for name in printed)
    assert len(printed) == len(paper().tables["fig21"]["values"]) == 9
    jobs = [job for job in STUDIES[0].jobs(Scope()) if isinstance(job, PairJob)]
    assert {job.pair for job in jobs} == set(PAIRS)
    assert {job.form for job in jobs} == set(FORMS)
    quick = made(Scope(quick=True))
    assert quick
    assert all("scores" in name for name in quick)


def test_what_does_not_run_counts_in_both_of_attention():
    """At l = 4096 a head stands for twelve, and 512 rows for 4,096."""
    name = "l=4096, accumulator 256 KiB: both of attention: percent of cycles, as the survey fuses"
    after, before = 12 * 200 + 8 * 300, 12 * 400 + 8 * 400
    assert made(Scope())[name].ours == pytest.approx(100 * (after / before - 1))
