"""Figures 21 and 22: operators by themselves, and fused in more than one way."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from celosia.lab.survey.items.pair_jobs import (
    APART,
    AS_CHOSEN,
    ATTENTION,
    BY_TURNS,
    FORMS,
    FUSED,
    NORM_APART,
    PAIRS,
    WHOLE_ROWS,
    PairJob,
)
from celosia.lab.survey.parts.jobs import Run
from celosia.lab.survey.parts.values import (
    CYCLES,
    PERCENT,
    Evidence,
    Item,
    Scope,
    Study,
    Value,
)
from celosia.sw.reference.encoder import BERT_BASE

__all__ = ["STUDIES"]

_ITEM: Final = "fig21"
_SCORES, _CONTEXT, _OUTPUT, _DOWN = PAIRS
_BOTH: Final = "both of attention"
_HEADS: Final = BERT_BASE.heads
_USUAL: Final = 512
"""Tokens of the runs of linear layers, whose rows do not depend on each other."""

Way = tuple[str, str]
"""A form and a mode."""

_BEFORE: Final[Way] = APART, BY_TURNS
"""What the survey fuses: one operator behind the other, each as fast as it is by itself."""
_CHANGES: Final[Mapping[str, tuple[Way, Way]]] = {
    "fused": ((FUSED, AS_CHOSEN), (APART, AS_CHOSEN)),
    "fused, by turns": ((FUSED, BY_TURNS), (APART, BY_TURNS)),
    "overlapped, apart": ((APART, AS_CHOSEN), (APART, BY_TURNS)),
    "overlapped, fused": ((FUSED, AS_CHOSEN), (FUSED, BY_TURNS)),
    "fused and overlapped": ((FUSED, AS_CHOSEN), _BEFORE),
    "only the norm fused": ((FUSED, AS_CHOSEN), (NORM_APART, AS_CHOSEN)),
    "whole rows, over fused": ((WHOLE_ROWS, AS_CHOSEN), (FUSED, AS_CHOSEN)),
    "whole rows, over apart": ((WHOLE_ROWS, AS_CHOSEN), (APART, AS_CHOSEN)),
    "as attention": ((ATTENTION, AS_CHOSEN), (APART, AS_CHOSEN)),
}
"""A way, and what it is compared with."""
_AS_SURVEY: Final = "as the survey fuses"


@dataclass(frozen=True)
class _Cell:
    """Operators at a length and a size of the accumulator."""

    tokens: int
    accumulator_kib: int
    pairs: tuple[str, ...]
    heads: int = _HEADS

    @property
    def name(self) -> str:
        return f"l={self.tokens}, accumulator {self.accumulator_kib} KiB"


_QUICK: Final = (_Cell(512, 64, (_SCORES,)),)
_CELLS: Final = (
    _Cell(512, 64, tuple(PAIRS)),
    _Cell(512, 128, (_SCORES, _OUTPUT)),
    _Cell(512, 256, tuple(PAIRS)),
    _Cell(2048, 64, (_SCORES, _CONTEXT), heads=1),
    _Cell(4096, 256, (_SCORES, _OUTPUT), heads=1),
)


def _cells(scope: Scope) -> Sequence[_Cell]:
    return _QUICK if scope.quick else _CELLS


def _ways(pair: str) -> tuple[Way, ...]:
    """The ways that a pair is run in."""
    _, forms = PAIRS[pair]
    turns = () if pair == _CONTEXT else ((APART, BY_TURNS), (FUSED, BY_TURNS))
    return (*turns, *((form, AS_CHOSEN) for form in forms))


def _job(cell: _Cell, pair: str, way: Way) -> PairJob:
    linear = pair in (_OUTPUT, _DOWN)
    form, mode = way
    return PairJob(
        pair=pair,
        tokens=_USUAL if linear else cell.tokens,
        heads=_HEADS if linear else cell.heads,
        accumulator_kib=cell.accumulator_kib,
        form=form,
        mode=mode,
    )


def _jobs(scope: Scope) -> tuple[PairJob, ...]:
    jobs = (_job(cell, p, way) for cell in _cells(scope) for p in cell.pairs for way in _ways(p))
    return tuple(dict.fromkeys(jobs))


def _found(evidence: Evidence, cell: _Cell, pair: str) -> Mapping[Way, Run]:
    """The runs of a pair; none, if some are missing."""
    jobs = {way: _job(cell, pair, way) for way in _ways(pair)}
    if any(job not in evidence.runs for job in jobs.values()):
        return {}
    return {way: evidence.runs[job] for way, job in jobs.items()}


def _values(evidence: Evidence, cell: _Cell) -> Iterator[Value]:
    for pair in cell.pairs:
        runs = _found(evidence, cell, pair)
        for way, run in runs.items():
            job = _job(cell, pair, way)
            if job.tokens != cell.tokens:
                continue  # It is among those of another cell.
            name = f"{cell.name}: {pair}: cycles, {', '.join(way)}"
            yield Value(name=name, ours=run.cycles, kind="rtl", unit=CYCLES, **_of(job))
        if runs and (pair not in (_OUTPUT, _DOWN) or cell.tokens == _USUAL):
            yield from _changes(evidence, cell, pair, runs)
    yield from _both(evidence, cell)


def _changes(
    evidence: Evidence, cell: _Cell, pair: str, runs: Mapping[Way, Run]
) -> Iterator[Value]:
    """What fusing does to cycles in percent, and its parts apart."""
    name = f"{cell.name}: {pair}: percent of cycles"
    for change, (after, before) in _CHANGES.items():
        if after in runs and before in runs:
            ours = _percent(runs[after].cycles, runs[before].cycles)
            more = _of(_job(cell, pair, after))
            yield Value(name=f"{name}, {change}", ours=ours, kind="rtl", unit=PERCENT, **more)
    if _BEFORE in runs:
        after = _survey_way(pair)
        ours = _percent(runs[after].cycles, runs[_BEFORE].cycles)
        yield _as_survey(evidence, name, ours, _of(_job(cell, pair, after)))


def _both(evidence: Evidence, cell: _Cell) -> Iterator[Value]:
    """Scores of all heads with softmax, and the linear layer behind them, as the survey fuses."""
    pairs = (_SCORES, _OUTPUT)
    found = {pair: _found(evidence, cell, pair) for pair in pairs if pair in cell.pairs}
    if len(found) < len(pairs) or not all(found.values()):
        return
    times = {_SCORES: _HEADS / cell.heads, _OUTPUT: cell.tokens / _USUAL}
    after, before = (
        sum(times[pair] * found[pair][way(pair)].cycles for pair in pairs)
        for way in (_survey_way, lambda _pair: _BEFORE)
    )
    job = _job(cell, _SCORES, _survey_way(_SCORES))
    more = {"settings": job.settings() | {"workload": _BOTH}, "netlist": job.netlist}
    name = f"{cell.name}: {_BOTH}: percent of cycles"
    yield _as_survey(evidence, name, _percent(after, before), more)


def _survey_way(pair: str) -> Way:
    """Whole rows in the accumulator: scores that are fused are that, where they fit."""
    return (FUSED if pair == _SCORES else WHOLE_ROWS), AS_CHOSEN


def _as_survey(evidence: Evidence, name: str, ours: float, more: Mapping[str, Any]) -> Value:
    printed = evidence.paper.printed(_ITEM, name)
    theirs = None if printed is None else printed.value
    name = f"{name}, {_AS_SURVEY}"
    return Value(name=name, ours=ours, kind="rtl", unit=PERCENT, paper=theirs, **more)


def _percent(after: float, before: float) -> float:
    """What is added to `before`, in percent of it."""
    return 100 * (after / before - 1)


def _of(job: PairJob) -> dict[str, Any]:
    return {"settings": job.settings(), "netlist": job.netlist}


def _make(evidence: Evidence) -> Item:
    values = tuple(v for cell in _cells(evidence.scope) for v in _values(evidence, cell))
    return Item(
        id=_ITEM,
        title="Figures 21 and 22: pairs of operators fused or not",
        where=evidence.paper.where(_ITEM),
        values=values,
        notes=(
            "The survey estimates these pairs with Timeloop: not fused, one operator behind the "
            "other; fused, whole rows stay in the accumulator for the second operator, which works "
            f"beside the first. Its number stands beside ours of just that: {WHOLE_ROWS!r} (of "
            f"scores, {FUSED!r}) over {APART!r} by turns. By turns, products and other work never "
            "run at once; loads and stores go on beside both.",
            *(f"{form[0].upper()}{form[1:]}: {text}." for form, text in FORMS.items()),
            "All else has the compiler's own choices. Scores whose whole rows are fewer than the "
            "array's stand in the accumulator block by block, and are made three times.",
            "At l = 2,048 and 4,096 scores are those of one head. Rows of a linear layer do not "
            f"depend on each other: at 4,096 they take as many times the cycles of {_USUAL}.",
        ),
        missing="--quick: scores of l = 512 on base" if evidence.scope.quick else "",
    )


STUDIES: Final = (Study(id=_ITEM, jobs=_jobs, make=_make),)
