"""Figure 13: the products of BERT-Base with local memories of other sizes."""

from collections.abc import Iterator
from typing import Any, Final

from celosia.lab.survey.parts.gemmini_tiles import GemminiJob
from celosia.lab.survey.parts.jobs import Job
from celosia.lab.survey.parts.products import LayerProduct, layer_products, product_job
from celosia.lab.survey.parts.values import PERCENT, Evidence, Item, Scope, Study, Value

__all__ = ["STUDIES"]

_SIZES: Final = (64, 128, 256)
_USUAL: Final = (40, 16)
_MEMORIES: Final = ((40, 16), (40, 8), (100, 16), (100, 8))
"""Latency and bytes per cycle."""
_PRESETS: Final = {(64, 256): "base", (256, 64): "rebalanced"}
"""Cells that have a name, by KiB of the accumulator and of the scratchpad."""
_QUICK_CELL: Final = (64, 256)
"""The accelerator that all quick runs are of."""
_LOOPS: Final = "loop_ws=true"


def _cells(scope: Scope) -> Iterator[tuple[int, int]]:
    if scope.quick:
        yield _QUICK_CELL
    else:
        yield from ((acc, pad) for acc in _SIZES for pad in _SIZES)


def _setting(acc: int, pad: int, latency: int, rate: int) -> dict[str, Any]:
    setting: dict[str, Any] = {"latency": latency, "bytes_per_cycle": rate}
    if (acc, pad) in _PRESETS:
        return {"preset": _PRESETS[acc, pad], **setting}
    return {"overrides": (f"accumulator_kib={acc}", f"scratchpad_kib={pad}"), **setting}


def _gemmini_job(product: LayerProduct, acc: int, pad: int) -> GemminiJob:
    """`product` as Gemmini's library cuts it, with the usual memory."""
    sizes = (f"accumulator_kib={acc}", f"scratchpad_kib={pad}", _LOOPS)
    job = product_job(product)
    return GemminiJob(
        workload=job.workload,
        details=job.details,
        overrides=sizes,
        array_cycles=job.array_cycles,
    )


def _jobs(scope: Scope) -> tuple[Job, ...]:
    memories = (_USUAL,) if scope.quick else _MEMORIES
    return tuple(
        product_job(product, **_setting(*cell, *memory))
        for memory in memories
        for cell in _cells(scope)
        for product in layer_products()
    )


def _gemmini_jobs(scope: Scope) -> tuple[GemminiJob, ...]:
    cells = () if scope.quick else _cells(scope)
    return tuple(_gemmini_job(product, *cell) for cell in cells for product in layer_products())


def _cell(evidence: Evidence, acc: int, pad: int, memory: tuple[int, int]) -> Iterator[Value]:
    setting = _setting(acc, pad, *memory)
    jobs = [(product, product_job(product, **setting)) for product in layer_products()]
    if any(job not in evidence.runs for _, job in jobs):
        return
    runs = [(product.count, evidence.runs[job]) for product, job in jobs]
    cycles = sum(count * run.cycles for count, run in runs)
    limit = sum(count * run.limit_cycles for count, run in runs)
    macs = sum(count * run.macs for count, run in runs)
    _, job = jobs[0]
    name = f"accumulator {acc} KiB, scratchpad {pad} KiB"
    others = "" if memory == _USUAL else f", latency {memory[0]}, {memory[1]} B/cycle"
    settings = {**setting, "seq": 512, "products": len(runs)}
    more = {"settings": settings, "netlist": job.netlist, "unit": PERCENT}
    utilization = 100 * macs / (job.config.macs_per_cycle * cycles)
    printed = evidence.paper.value("fig13", name)
    yield Value(name=name + others, paper=printed, ours=utilization, kind="rtl", **more)
    share = 100 * limit / cycles
    note = "" if share >= 97 else "below 97 % of its own limit"
    yield Value(name=f"{name}{others}, of its limit", ours=share, kind="rtl", note=note, **more)


def _gemmini_cell(evidence: Evidence, acc: int, pad: int) -> Iterator[Value]:
    jobs = [(product, _gemmini_job(product, acc, pad)) for product in layer_products()]
    if any(job not in evidence.runs for _, job in jobs):
        return
    cycles = sum(product.count * evidence.runs[job].cycles for product, job in jobs)
    macs = sum(product.count * evidence.runs[job].macs for product, job in jobs)
    _, job = jobs[0]
    name = f"accumulator {acc} KiB, scratchpad {pad} KiB"
    yield Value(
        name=name,
        paper=evidence.paper.value("fig13", name),
        ours=100 * macs / (job.config.macs_per_cycle * cycles),
        kind="rtl",
        settings={**job.settings(), "shape": "all products", "seq": 512, "products": len(jobs)},
        netlist=job.netlist,
        unit=PERCENT,
    )


def _make(evidence: Evidence) -> Item:
    cells = [
        value
        for memory in _MEMORIES
        for acc in _SIZES
        for pad in _SIZES
        for value in _cell(evidence, acc, pad, memory)
    ]
    left_out = "cells and memories that --quick leaves out" if evidence.scope.quick else ""
    return Item(
        id="fig13",
        title="Figure 13: utilization of products by sizes of the local memories",
        where=evidence.paper.where("fig13"),
        values=tuple(cells),
        notes=(
            "Percent of what the array could multiply, all products of a layer at l = 512 as often "
            "as a layer has them, each from memory to memory. The survey states neither length, "
            "bandwidth nor latency. The limit is each operand once, and the ramp.",
        ),
        missing=left_out,
    )


def _make_gemmini(evidence: Evidence) -> Item:
    cells = ((acc, pad) for acc in _SIZES for pad in _SIZES)
    return Item(
        id="fig13-tiling",
        title="Figure 13, tiled as Gemmini's library does it",
        where=evidence.paper.where("fig13"),
        values=tuple(value for cell in cells for value in _gemmini_cell(evidence, *cell)),
        notes=(
            "The same products, latency 40 and 16 bytes per cycle, cut by `tiled_matmul_auto` into "
            "loops of LOOP_WS, each of half the scratchpad and half the accumulator, which the "
            "loop engine of this RTL executes.",
        ),
        missing="all of it, which --quick leaves out" if evidence.scope.quick else "",
    )


STUDIES: Final = (
    Study(id="fig13", jobs=_jobs, make=_make),
    Study(id="fig13-tiling", jobs=_gemmini_jobs, make=_make_gemmini),
)
