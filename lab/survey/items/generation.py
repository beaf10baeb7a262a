"""GPT-2: what a step and a prefill compute and read, and where their cycles go."""

from collections.abc import Iterator, Mapping
from typing import Final

from celosia.lab.survey.parts.decoding import (
    CONTEXTS,
    PREFILLS,
    bytes_of_step,
    prefill_job,
    step_job,
)
from celosia.lab.survey.parts.jobs import Job, Run
from celosia.lab.survey.parts.values import Evidence, Item, Scope, Study, Value
from celosia.sw.models.decoder_shape import GPT2_SMALL

__all__ = ["STUDIES"]

_ID: Final = "decoder"
_CLASSES: Final = {
    "projections": ("query", "key", "value", "output"),
    "attention": ("attention",),
    "feed-forward": ("up", "down"),
    "vocabulary": ("vocabulary",),
}
"""Operators by what the survey's profile calls them; a norm counts with what it is fused to."""


def _jobs(scope: Scope) -> tuple[Job, ...]:
    most = 1 if scope.quick else None
    return (*map(step_job, CONTEXTS[:most]), *map(prefill_job, PREFILLS[:most]))


def _counted(context: int) -> Iterator[Value]:
    """What a step is, on any accelerator."""
    name = f"step behind {context:,}"
    keys = context + 1
    operations = 2 * (GPT2_SMALL.weights + GPT2_SMALL.cache_width * keys)
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


def _prefilled(evidence: Evidence, tokens: int) -> Iterator[Value]:
    job = prefill_job(tokens)
    if (run := evidence.runs.get(job)) is None:
        return
    name = f"prefill of {tokens}, a layer"
    yield evidence.rtl(_ID, f"{name}: cycles", run.cycles, job)
    used = 100 * run.macs / (job.config.macs_per_cycle * run.cycles)
    yield evidence.rtl(_ID, f"{name}: MAC utilization, percent", used, job)
    step = evidence.runs.get(step_job(CONTEXTS[0]))
    if step is not None:
        each = step.cycles / (len(GPT2_SMALL.layers) * run.cycles / tokens)
        yield evidence.rtl(
            _ID,
            f"{name}: cycles of a step over those of one of its tokens",
            each,
            job,
            note="all layers; the step has the product with the vocabulary as well",
        )


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
    steps = (
        value
        for context in CONTEXTS
        for value in (*_counted(context), *_measured(evidence, context))
    )
    prefills = (value for tokens in PREFILLS for value in _prefilled(evidence, tokens))
    return Item(
        id=_ID,
        title="GPT-2: steps and prefill",
        where="figures 9 and 32, and the text around them",
        values=(*steps, *prefills),
        notes=(
            "A step reads each weight once for one product, so that memory decides, and not the "
            "array. The limit is int8 weights, keys and values once; bias, scales and padding are "
            "not in it. The survey profiles GPT-2 on a processor and by its analytical model only.",
            "A prefill reads each weight once for all of its tokens, so that the array decides. "
            "Tiles above the diagonal are neither computed nor counted.",
        ),
        missing="--quick leaves out the longer context and the longer prefill"
        if evidence.scope.quick
        else "",
    )


STUDIES: Final = (Study(id=_ID, jobs=_jobs, make=_make),)
