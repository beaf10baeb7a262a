"""All items of the survey: which runs they need, and what comes out of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from celosia.isa.config import did_you_mean
from celosia.isa.documents.record import Inline, Record
from celosia.lab.survey.items import (
    bottleneck,
    clock,
    generation,
    inconsistencies,
    intensity,
    latency,
    mappings,
    memories,
    pairs,
    pruning,
    searching,
    silicon,
)
from celosia.lab.survey.parts.jobs import Task, WrongRunError, run_task
from celosia.lab.survey.parts.paper import Paper, paper
from celosia.lab.survey.parts.values import Evidence, Item, Scope, Study
from celosia.lab.survey.store import RunStore
from celosia.sim.run.origin import Origin
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.support.words import counted
from celosia.sim.support.workers import Lane, Lost, run_on

__all__ = [
    "Survey",
    "chosen_jobs",
    "chosen_studies",
    "differences",
    "run_survey",
    "study_ids",
]

_MODULES: Final = (
    intensity,
    latency,
    memories,
    bottleneck,
    silicon,
    clock,
    mappings,
    pairs,
    generation,
    searching,
    pruning,
    inconsistencies,
)
_STUDIES: Final = {study.id: study for module in _MODULES for study in module.STUDIES}


@dataclass(frozen=True)
class Survey(Record):
    """What was found."""

    items: tuple[Item, ...]
    """Tables and figures of the survey."""
    scope: Inline[Scope]
    origin: Inline[Origin] = field(default_factory=Origin)
    schema: Literal["celosia.survey/1"] = "celosia.survey/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""


def study_ids() -> tuple[str, ...]:
    """The names of all items, in the order of the page."""
    return tuple(_STUDIES)


def chosen_studies(only: str | None) -> tuple[Study, ...]:
    """The studies named in `only`, with commas between them; None: all.

    Raises `InputError` for a name that is none, and for no name.
    """
    if only is None:
        return tuple(_STUDIES.values())
    names = [name.strip() for name in only.split(",")]
    for name in names:
        if name not in _STUDIES:
            known = ", ".join(_STUDIES)
            near = did_you_mean(name, _STUDIES)
            raise InputError(f"--only {only!r}: there is no item {name!r}; there are {known}{near}")
    return tuple(study for name, study in _STUDIES.items() if name in names)


def chosen_jobs(studies: Sequence[Study], scope: Scope) -> list[Task]:
    """The runs that are needed, each once.

    A tenth is a stretch of their list by cycles: what is shown together runs together.
    """
    jobs = list(dict.fromkeys(job for study in studies for job in study.jobs(scope)))
    if scope.tenth is None:
        return jobs
    total, chosen, before = sum(job.array_cycles for job in jobs), [], 0
    for job in jobs:
        if (before + job.array_cycles // 2) * 10 // total == scope.tenth:
            chosen.append(job)
        before += job.array_cycles
    return chosen


def run_survey(
    studies: Sequence[Study],
    scope: Scope,
    store: RunStore,
    lanes: Sequence[Lane],
    tell: Progress,
    run: Callable[[Task], Any] = run_task,
    numbers: Paper | None = None,
) -> Survey:
    """Make the items of `studies`, with the runs that `store` does not have yet.

    Each run is kept as soon as it ends.  Raises `WrongRunError` for one that is not right, and for
    one whose workers ended each time.
    """
    jobs = chosen_jobs(studies, scope)
    runs = {job: known for job in jobs if (known := store.load(job)) is not None}
    missing = [job for job in jobs if job not in runs]
    if missing:
        for job, result in _finished(lanes, missing, run, tell):
            store.save(job, result)
            runs[job] = result
    evidence = Evidence(numbers or paper(), runs, scope)
    return Survey(tuple(study.make(evidence) for study in studies), scope)


def _finished(
    lanes: Sequence[Lane], jobs: Sequence[Task], run: Callable[[Task], Any], tell: Progress
) -> Iterator[tuple[Task, Any]]:
    """The jobs as they end; the longest begin first, so that none is left over at the end."""
    ordered = sorted(jobs, key=lambda job: -job.array_cycles)
    total, done = sum(job.array_cycles for job in jobs), 0
    tell(f"{counted(len(jobs), 'run')} on the RTL, {total:,} cycles", 0.0)
    for count, (job, result) in enumerate(run_on(lanes, run, ordered), 1):
        if isinstance(result, Lost):
            raise WrongRunError(f"{job.settings()}: {result.attempts} workers ended in it")
        yield job, result
        done += job.array_cycles
        # Who shows it knows the time that is left: a second estimate would be another one.
        tell(f"{count} of {counted(len(jobs), 'run')}", done / total)


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[str]:
    """Values of the document `second` that are not as in `first`, in words.

    Only items are compared that both have, and of them what both have obtained; versions and
    hashes are left out.
    """
    known = dict(_obtained(first["items"]))
    for name, ours in _obtained(second["items"]):
        if name in known and known[name] != ours:
            yield f"{name}: {ours} instead of {known[name]}"


def _obtained(items: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, float]]:
    for item in items:
        for value in item["values"]:
            if value["ours"] is not None:
                yield f"{item['id']}: {value['name']}", value["ours"]
