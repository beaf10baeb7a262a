"""GPT-2 token by token: what a step computes and reads, and where its cycles go."""

from collections.abc import Iterator, Mapping
from typing import Final

from celosia.sim.bench.survey.parts.decoding import CONTEXTS, bytes_of_step, step_job
from celosia.sim.bench.survey.parts.jobs import Job, Run
from celosia.sim.bench.survey.parts.values import Evidence, Item, Scope, Study, Value
from celosia.sw.models.decoder_shape import GPT2_SMALL

__all__ = ["STUDIES"]

_ID: Final = "decoder"
_QUICK: Final = CONTEXTS[:1]
_CLASSES: Final = {
    "projections": ("query", "key", "value", "output"),
    "attention": ("attention",),
    "feed-forward": ("up", "down"),
    "vocabulary": ("vocabulary",),
}
"""Operators by what the survey's profile calls them; a norm counts with what it is fused to."""


def _jobs(scope: Scope) -> tuple[Job, ...]:
    return tuple(step_job(context) for context in (_QUICK if scope.quick else CONTEXTS))


def _counted(context: int) -> Iterator[Value]:
    """What a step is, on any accelerator."""
    name = f"step behind {context:,}"
    keys = context + 1
    operations = 2 * (GPT2_SMALL.weights + 2 * GPT2_SMALL.layers * GPT2_SMALL.width * keys)
    for what, ours in (
        ("operations of products", operations),
        ("bytes of int8 weights, keys and values", bytes_of_step(context)),
        ("operations for each byte", operations / bytes_of_step(context)),
    ):
        yield Value(
            name=f"{name}: {what}",
            ours=ours,
            kind="arithmetic",
            settings={"model": str(GPT2_SMALL), "context": context},
        )


def _measured(evidence: Evidence, context: int) -> Iterator[Value]:
    job = step_job(context)
    if (run := evidence.runs.get(job)) is None:
        return
    name = f"step behind {context:,}"
    yield evidence.rtl(_ID, f"{name}: cycles", run.cycles, job)
    least = bytes_of_step(context) / job.bytes_per_cycle
    yield evidence.rtl(_ID, f"{name}: percent of the memory's limit", 100 * least / run.cycles, job)
    for kind, share in _shares(run).items():
        yield evidence.rtl(_ID, f"{name}: percent of cycles, {kind}", 100 * share, job)


def _shares(run: Run) -> Mapping[str, float]:
    """The cycles of each class of operators over all."""
    cycles = dict.fromkeys(_CLASSES, 0)
    for name, spent in run.operators.items():
        kind = _class_of(name.partition(" ")[0])
        if kind is not None:
            cycles[kind] += spent
    shares = {kind: spent / run.cycles for kind, spent in cycles.items()}
    return {**shares, "others": 1 - sum(shares.values())}


def _class_of(operator: str) -> str | None:
    return next((kind for kind, names in _CLASSES.items() if operator in names), None)


def _make(evidence: Evidence) -> Item:
    values = [
        value
        for context in CONTEXTS
        for value in (*_counted(context), *_measured(evidence, context))
    ]
    return Item(
        id=_ID,
        title="GPT-2 token by token",
        where="figures 9 and 32, and the text around them",
        values=tuple(values),
        notes=(
            "A step reads each weight once for one product, so that memory decides, and not the "
            "array. The limit is int8 weights, keys and values once; bias, scales and padding are "
            "not in it. The survey profiles GPT-2 on a processor and by its analytical model only.",
        ),
        missing="--quick leaves out the longer context" if evidence.scope.quick else "",
    )


STUDIES: Final = (Study(id=_ID, jobs=_jobs, make=_make),)
