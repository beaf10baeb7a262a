"""Figures 21 and 22: pairs of operators whose sums are kept, or pass through memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from celosia.sim.bench.survey.items.pair_jobs import AS_COMPILED, PAIRS, SERIAL, PairJob
from celosia.sim.bench.survey.parts.jobs import Run
from celosia.sim.bench.survey.parts.values import Evidence, Item, Scope, Study, Value
from celosia.sw.reference.encoder import BERT_BASE

__all__ = ["STUDIES"]

_ITEM: Final = "fig21"
_SCORES, _OUTPUT, _DOWN = PAIRS
_BOTH: Final = "both of attention"
_LONG: Final = 4096


@dataclass(frozen=True)
class _Cell:
    """Pairs at a length and a size of the accumulator."""

    tokens: int
    accumulator_kib: int
    pairs: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"l={self.tokens}, accumulator {self.accumulator_kib} KiB"

    @property
    def heads(self) -> int:
        return 1 if self.tokens == _LONG else BERT_BASE.heads


_QUICK: Final = (_Cell(512, 64, (_SCORES, _OUTPUT)),)
_CELLS: Final = (
    _Cell(512, 64, tuple(PAIRS)),
    _Cell(512, 128, (_SCORES, _OUTPUT)),
    _Cell(512, 256, tuple(PAIRS)),
    _Cell(_LONG, 256, (_SCORES, _OUTPUT)),
)


def _cells(scope: Scope) -> Sequence[_Cell]:
    return _QUICK if scope.quick else _CELLS


def _job(cell: _Cell, pair: str, *, spilled: bool, mode: str) -> PairJob:
    return PairJob(
        pair=pair,
        tokens=cell.tokens,
        heads=cell.heads,
        accumulator_kib=cell.accumulator_kib,
        spilled=spilled,
        mode=mode,
    )


def _corners(cell: _Cell, pair: str) -> tuple[PairJob, ...]:
    """The jobs of a pair: through memory, then kept; of each, serial first."""
    return tuple(
        _job(cell, pair, spilled=spilled, mode=mode)
        for spilled in (True, False)
        for mode in (SERIAL, AS_COMPILED)
    )


def _jobs(scope: Scope) -> tuple[PairJob, ...]:
    return tuple(
        job for cell in _cells(scope) for pair in cell.pairs for job in _corners(cell, pair)
    )


def _percent(after: float, before: float) -> float:
    """What is added to `before`, in percent of it."""
    return 100 * (after / before - 1)


def _values(evidence: Evidence, cell: _Cell) -> Iterator[Value]:
    of_attention: list[tuple[int, ...]] = []
    for pair in cell.pairs:
        jobs = _corners(cell, pair)
        runs: list[Run] = [evidence.runs[job] for job in jobs if job in evidence.runs]
        if len(runs) < len(jobs):
            continue
        for job, run in zip(jobs, runs, strict=True):
            way = "through memory" if job.spilled else "kept"
            name = f"{cell.name}: {pair}: cycles, sums {way}, {job.mode}"
            yield Value(name=name, ours=run.cycles, kind="rtl", **_of(job))
        cycles = tuple(run.cycles for run in runs)
        yield from _changes(evidence, f"{cell.name}: {pair}", cycles, _of(jobs[-1]))
        if pair != _DOWN:
            factor = BERT_BASE.heads // cell.heads if pair == _SCORES else 1
            of_attention.append(tuple(factor * each for each in cycles))
    if len(of_attention) == 2:
        together = tuple(map(sum, zip(*of_attention, strict=True)))
        job = _job(cell, _SCORES, spilled=False, mode=AS_COMPILED)
        more = {"settings": job.settings() | {"workload": _BOTH}, "netlist": job.netlist}
        yield from _changes(evidence, f"{cell.name}: {_BOTH}", together, more)


def _changes(
    evidence: Evidence, name: str, cycles: tuple[int, ...], more: dict[str, Any]
) -> Iterator[Value]:
    """What fusing does to cycles in percent, and its two parts apart."""
    serial_spilled, spilled, serial_kept, kept = cycles
    changes = {
        "by not spilling, as compiled": _percent(kept, spilled),
        "by not spilling, units by turns": _percent(serial_kept, serial_spilled),
        "by overlapping, sums through memory": _percent(spilled, serial_spilled),
        "by overlapping, sums kept": _percent(kept, serial_kept),
        "by both": _percent(kept, serial_spilled),
    }
    for change, ours in changes.items():
        printed = evidence.paper.printed(_ITEM, f"{name}: percent of cycles")
        theirs = printed.value if printed is not None and change == "by both" else None
        yield Value(
            name=f"{name}: percent of cycles {change}", ours=ours, kind="rtl", paper=theirs, **more
        )


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
            "The survey estimates these pairs with Timeloop. Fusing is two things at once in it: "
            "sums are not sent to memory as int32 and fetched again, and the second operator works "
            "beside the first. Here each is there with and without the other: sums kept or through "
            "memory, units by turns (a fence between them, also between loads and products) or as "
            "compiled. The survey's number stands beside the change by both.",
            f"At l = {_LONG} scores are those of one head. Rows of a linear layer do not depend on "
            "each other, so that its numbers at one length hold for others.",
        ),
        missing="--quick: l = 512 on base, without down" if evidence.scope.quick else "",
    )


STUDIES: Final = (Study(id=_ITEM, jobs=_jobs, make=_make),)
