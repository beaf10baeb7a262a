"""Reports of graphs as tables on a terminal."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from rich.markup import escape
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.events import TABLES
from celosia.sim.command.outputs.alike_layers import by_layer, together
from celosia.sim.command.outputs.table_cells import (
    NOTHING,
    mismatches,
    percent,
    run_caption,
    run_title,
    whole,
)
from celosia.sim.run.options.options import Check
from celosia.sim.run.report import Measurement, Report
from celosia.sim.support.fitted import Column, FittedTable
from celosia.sim.support.words import counted
from celosia.sim.workloads.similarity import Similarity
from celosia.sw.passes.rounded_scales import RoundedScales
from celosia.sw.scheduling.memory.memory_plan import MemoryPlan

__all__ = [
    "groups_table",
    "memory_line",
    "on_chip_line",
    "owners",
    "rounded_line",
    "similarity_table",
]

_MOST_OWNERS: Final = 2
_SMALLEST_SHARE: Final = 0.005
"""The share of an operator's cycles below which an owner is left out of its line."""
_TEXT_WIDTH: Final = 40
_COLUMNS: Final = (
    Column("operator", "name"),
    Column("cycles"),
    Column("predicted", needless=4),
    Column("share", needless=1),
    Column("MAC use", needless=1),
    Column("the array's cycles", "text", needless=3),
    Column("bytes", needless=5),
    Column("mismatches", needless=2),
)
_LAYER_OR_PART: Final = re.compile(r"^\d+\.|\.text\d+$")


def groups_table(report: Report, *, every: bool = False) -> FittedTable:
    """A line for each group of operators, layer by layer, and one for the whole program.

    Layers that are alike are one, unless `every` layer is asked for.
    """
    setting, total = report.setting, report.total
    table = FittedTable(
        columns=_COLUMNS,
        title=run_title(setting),
        caption="\n".join([
            run_caption(setting),
            *_program_and_limit(total, setting.config),
            *_memory_limit(report),
        ]),
    )
    operators = report.operators
    sections = by_layer(operators) if every else together(operators)
    for section in sections:
        for part in section:
            ends = len(operators) > 1 and part is section[-1]
            table.add_row(*_row(part, total, setting.config), end_section=ends)
    if len(operators) > 1:
        table.add_row(*_row(total, total, setting.config))
    return table


def _memory_limit(report: Report) -> Iterator[str]:
    """How near a decoder's step is to what memory sends at most."""
    share = report.memory_limit_share
    if share is not None:
        moved = f"{report.step_bytes:,} bytes of weights, keys and values"
        yield f"of the memory's limit: {share:.2%} ({moved})"


def owners(counters: dict[str, int]) -> str:
    """The up to three groups that own most of the array's cycles, with their shares."""
    cycles = counters.get("cycles", 0)
    if not cycles:
        return NOTHING
    array, *_ = TABLES
    shares = {
        group: sum(counters.get(owner.name, 0) for owner in members) / cycles
        for group, members in array.groups.items()
    }
    order = sorted(shares, key=lambda name: -shares[name])[:_MOST_OWNERS]
    return ", ".join(
        f"{name} {shares[name]:.1%}" for name in order if shares[name] >= _SMALLEST_SHARE
    )


def on_chip_line(names: Sequence[str], check: Check = "all") -> str:
    """What never is in memory, alike tensors of layers and texts together."""
    kinds = Counter(_LAYER_OR_PART.sub("", name) for name in names)
    named = [kind if count == 1 else f"{kind} (x{count})" for kind, count in kinds.items()]
    therefore = ", so not compared themselves" if check == "all" else ""
    return f"never in memory{therefore}: {', '.join(named)}"


def memory_line(plan: MemoryPlan, check: Check = "all") -> str:
    """How far bytes were used again, and what is not compared for that."""
    therefore = ", so not compared" if check == "all" else ""
    verb = "is" if len(plan.gone) == 1 else "are"
    return (
        f"memory: tensors that take {plan.dense:,} bytes apart are in {plan.peak:,}, of which "
        f"{plan.live_sum:,} live at once; {len(plan.gone)} {verb} overwritten{therefore}"
    )


def rounded_line(rounding: RoundedScales) -> str:
    """How scales were rounded."""
    text = (
        f"scales: {rounding.rounded:,} of {rounding.scales:,} are rounded to {rounding.bits} bits"
    )
    return f"{text}, by {rounding.largest:.2%} at most" if rounding.rounded else text


def similarity_table(similarity: Similarity) -> Table:
    """Cosines between texts, as computed and in float32, and of each to its float32 form."""
    title = "Cosines of the texts' vectors"
    if similarity.float_cosines is not None:
        title += ", of those in float32 (f32), and of each to its own in float32"
    table = Table(title=title, title_justify="left")
    table.add_column("")
    table.add_column("text", overflow="fold", max_width=_TEXT_WIDTH)
    table.add_column("tokens", justify="right")
    numbers = [str(number) for number in range(1, len(similarity.texts) + 1)]
    for number in numbers:
        table.add_column(number, justify="right", no_wrap=True)
    real = similarity.float_cosines
    if real is not None:
        for number in numbers:
            table.add_column(f"f32 {number}", justify="right", style="dim", no_wrap=True)
        table.add_column("to f32", justify="right", no_wrap=True)
    for index, (text, tokens) in enumerate(zip(similarity.texts, similarity.lengths, strict=True)):
        cells = _cosines(similarity.cosines[index])
        if real is not None and similarity.to_float is not None:
            cells += [*_cosines(real[index]), f"{similarity.to_float[index]:.5f}"]
        table.add_row(numbers[index], escape(text), str(tokens), *cells)
    return table


def _cosines(row: np.ndarray) -> list[str]:
    return [f"{cosine:.3f}" for cosine in row]


def _row(part: Measurement, total: Measurement, config: AcceleratorConfig) -> tuple[str, ...]:
    share = part.cycles / total.cycles if part.cycles and total.cycles else None
    moved = part.dram_read_bytes + part.dram_write_bytes
    return (
        part.name,
        whole(part.cycles),
        whole(part.predicted_cycles),
        percent(share),
        percent(part.utilization(config)),
        owners(dict(part.counters)),
        whole(moved if part.counters or part is total else None),
        mismatches(part),
    )


def _program_and_limit(total: Measurement, config: AcceleratorConfig) -> list[str]:
    """What the program takes in memory, and the cycles that none could do without."""
    parts = [*_program_line(total), *_limit_line(total, config)]
    return ["; ".join(parts)] if parts else []


def _program_line(total: Measurement) -> list[str]:
    """What it takes in memory."""
    if total.entries is None or total.program_bytes is None:
        return []
    kib = total.program_bytes / (1 << 10)
    entries = counted(total.entries, "entry", "entries")
    return [f"program: {counted(total.commands, 'command')} in {entries}, {kib:,.1f} KiB"]


def _limit_line(total: Measurement, config: AcceleratorConfig) -> list[str]:
    """What no program could be faster than."""
    if total.limit is None:
        return []
    share = total.limit_utilization(config)
    reached = "" if share is None else f", {percent(share)} of MAC utilization"
    return [f"limit: {total.limit.cycles:,} cycles{reached} (bound by {total.limit.bound})"]
