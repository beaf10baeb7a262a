"""Figures 18 to 20: random mappings of single operators, and some of them on the RTL."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from celosia.lab.mappings.sample import COLUMNS
from celosia.lab.mappings.samplers import Sampler
from celosia.lab.survey.items.mapping_jobs import MappingJob, MappingRun
from celosia.lab.survey.parts.values import PERCENT, Evidence, Item, Scope, Study, Value

__all__ = ["STUDIES"]

_ITEM: Final = "fig18"
_COUNT: Final = 100_000
_QUICK_COUNT: Final = 1000
_PICKS: Final = 50


@dataclass(frozen=True)
class _Operator:
    name: str
    shape: str
    """M x N x K of its product; of a convolution, of its windows as rows."""


_OPERATORS: Final = (
    _Operator("ResNet-50 3x3, 512", "49x512x4608"),
    _Operator("ResNet-50 1x1, 2048", "49x2048x512"),
    _Operator("MHA projection", "512x768x768"),
    _Operator("FFN W1", "512x3072x768"),
)
_SAMPLERS: Final = (Sampler.UNIFORM, Sampler.FACTORS)


def _job(operator: _Operator, sampler: Sampler, scope: Scope) -> MappingJob:
    quick = scope.quick
    return MappingJob(
        shape=operator.shape,
        sampler=sampler,
        count=_QUICK_COUNT if quick else _COUNT,
        picks=_PICKS if sampler is Sampler.UNIFORM and not quick else 0,
        exhaust=sampler is Sampler.UNIFORM and not quick,
    )


def _jobs(scope: Scope) -> tuple[MappingJob, ...]:
    return tuple(_job(operator, sampler, scope) for operator in _OPERATORS for sampler in _SAMPLERS)


def _values(evidence: Evidence, operator: _Operator, sampler: Sampler) -> Iterator[Value]:
    job = _job(operator, sampler, evidence.scope)
    run: MappingRun | None = evidence.runs.get(job)
    if run is None:
        return
    more: dict[str, Any] = {"settings": job.settings()}
    drawn = f" ({sampler.value}, {job.count:,} plans)"
    for column in COLUMNS:
        spread = run.spread[column]
        words = {
            "10th percentile over the least": spread["tenth"],
            "percent below 3 times the least": spread["below_three"],
            "most over the least": spread["most"],
        }
        for word, ours in words.items():
            printed = evidence.paper.printed(_ITEM, f"{operator.name}: {column}, {word}")
            yield Value(
                name=f"{operator.name}: {column}, {word}{drawn}",
                ours=ours,
                kind="model",
                unit=PERCENT if word.startswith(PERCENT) else "times the least",
                paper=None if printed is None else printed.value,
                **more,
            )
    for name, ours in run.least.items():
        yield Value(
            name=f"{operator.name}: least {name} of all plans", ours=ours, kind="model", **more
        )
    for name, ours in run.rtl.items():
        yield Value(
            name=f"{operator.name}: {name}", ours=ours, kind="rtl", netlist=job.netlist, **more
        )


def _make(evidence: Evidence) -> Item:
    return Item(
        id=_ITEM,
        title="Figures 18 to 20: random mappings of single operators",
        where=evidence.paper.where(_ITEM),
        values=tuple(
            value
            for operator in _OPERATORS
            for sampler in _SAMPLERS
            for value in _values(evidence, operator, sampler)
        ),
        notes=(
            "A mapping is a plan that compiles: cuts, order, what is kept, banks. Sums never leave "
            "the accumulator before they are complete, so that the worst plans of the survey's "
            "mapper, which spill them, are none of ours. Percentiles depend on how plans are "
            "drawn: uniform takes each legal combination of decisions, factors only those that "
            "divide the product evenly.",
            "Cycles are those of a model of pieces, rings and banks, compared with the RTL on "
            "plans that are spread evenly over the distribution of cycles x bytes, up to 40 "
            "million cycles. Energy is that of the events by the table of 45 nm (Horowitz, ISSCC "
            "2014); only ratios of it stand here. Convolutions are products of their windows.",
        ),
        missing="--quick draws fewer plans, and runs none on the RTL"
        if evidence.scope.quick
        else "",
    )


STUDIES: Final = (Study(id=_ITEM, jobs=_jobs, make=_make),)
