"""Figure 14 and the speed-up: a layer with everything between products on a host, and without."""

from collections.abc import Iterator
from typing import Final

from celosia.lab.compilers.nonlinear import HOST_CYCLES
from celosia.lab.survey.parts.exposed import WAITING
from celosia.lab.survey.parts.jobs import Job, Run
from celosia.lab.survey.parts.operators import Elementwise, layer_operators
from celosia.lab.survey.parts.products import layer_job
from celosia.lab.survey.parts.values import PERCENT, Evidence, Item, Scope, Study, Value
from celosia.sw.reference.encoder import BERT_BASE

__all__ = ["STUDIES"]

_TOKENS: Final = 512
_COMPILED: Final = "as compiled"
_MODES: Final = ("offloaded", "serial", "no overlap", _COMPILED)
_QUICK: Final = ("offloaded", _COMPILED)


def _job(mode: str) -> Job:
    return layer_job(_TOKENS, "" if mode == _COMPILED else mode)


def _jobs(scope: Scope) -> tuple[Job, ...]:
    return tuple(_job(mode) for mode in (_QUICK if scope.quick else _MODES))


def _host() -> dict[str, int]:
    """Cycles of the modeled host for a layer, by kinds of work."""
    operators = layer_operators(BERT_BASE, _TOKENS)
    sizes = {op.name: op.size for op in operators if isinstance(op, Elementwise)}
    plain = 4 * _TOKENS * BERT_BASE.width  # Query, key, value and context are only requantized.
    sizes["quantize"] = plain + sum(size for name, size in sizes.items() if name != "layernorm")
    return {name: HOST_CYCLES[name] * size for name, size in sizes.items()}


def _values(evidence: Evidence) -> Iterator[Value]:
    runs = {mode: evidence.runs[job] for mode in _MODES if (job := _job(mode)) in evidence.runs}
    if "offloaded" not in runs:
        return
    host, base = _host(), runs["offloaded"]
    whole = base.cycles + sum(host.values())
    for name, cycles in {"matmul": base.cycles, **host}.items():
        yield evidence.rtl(
            "fig14",
            f"before: {name} share",
            100 * cycles / whole,
            _job("offloaded"),
            kind="rtl" if name == "matmul" else "model",
            unit=PERCENT,
            note="" if name == "matmul" else "cycles per element of a host fitted to the survey",
        )
    for mode, run in runs.items():
        if mode == "offloaded":
            continue
        name = "speed-up" if mode == _COMPILED else f"speed-up, {mode}"
        note = "the layer before has a modeled host in it"
        ours = whole / run.cycles
        yield evidence.rtl("fig14", name, ours, _job(mode), unit="times as fast", note=note)
        if mode == _COMPILED:
            yield from _after(evidence, run)
        used = 100 * run.macs / (_job(mode).config.macs_per_cycle * run.cycles)
        name = f"after: MAC utilization, {mode}"
        yield evidence.rtl("fig14", name, used, _job(mode), unit=PERCENT)


def _after(evidence: Evidence, run: Run) -> Iterator[Value]:
    """What is not hidden, by kinds of work."""
    for kind, cycles in run.exposed.items():
        name, note = f"after: {kind} share", ""
        if kind == WAITING:
            note = "neither the array nor the unit of vectors works"
        share = 100 * cycles / run.cycles
        yield evidence.rtl("fig14", name, share, _job(_COMPILED), unit=PERCENT, note=note)


def _make(evidence: Evidence) -> Item:
    values = tuple(_values(evidence))
    return Item(
        id="fig14",
        title="Figure 14: where the time goes before and after, and the speed-up",
        where=evidence.paper.where("fig14"),
        values=values,
        notes=(
            "The host is a model, cycles per element that were fitted to the survey's shares: only "
            "the accelerator's cycles are ours, and the shares before say nothing new. The survey "
            "names neither processor nor compiler nor simulator.",
            "After, softmax, normalization and residual sums run beside products on ours: a "
            "cycle is a product's if the array is at one, else of what the unit of vectors is at, "
            "else of waiting: what is not a product's is what could not be hidden.",
        ),
        missing="" if values else "its runs were not made",
    )


STUDIES: Final = (Study(id="fig14", jobs=_jobs, make=_make),)
