"""Benchmarks as tables on a terminal."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.markup import escape
from rich.table import Table

from celosia.lab.accuracy.cost import CostSet
from celosia.lab.bench.advice import AdviceLine, followed
from celosia.lab.bench.line import BenchLine
from celosia.lab.bench.silicon import SiliconLine, runs_by_name
from celosia.lab.bench.speed import Speed
from celosia.lab.bench.trace import MEGABYTES, SLOWER, TraceLine
from celosia.lab.bench.weights import WeightsLine
from celosia.lab.compilers.nonlinear import (
    HOST_CYCLES,
    SURVEY_SPEEDUP,
    VTA_UTILIZATION,
    Nonlinear,
)
from celosia.lab.compilers.passes import Cycles, ModelPasses, by_pass
from celosia.lab.compilers.row import Row
from celosia.lab.tune.race.race import MOST, STRATEGIES, RaceLine
from celosia.sim.command.outputs.table_cells import NOTHING, judged, mismatches, percent, whole

__all__ = [
    "advice_table",
    "cases_table",
    "compilers_table",
    "cost_table",
    "nonlinear_table",
    "passes_tables",
    "silicon_table",
    "speed_table",
    "trace_table",
    "tuning_table",
    "weights_table",
]


def cases_table(lines: Sequence[BenchLine], title: str, caption: str = "") -> Table:
    """What must be reached, what is, and what is possible.

    A column that nothing is known for is left out.
    """
    ring = {line.report.setting.issue for line in lines} == {"ring"}
    table = Table(
        title=f"{title}, in Verilator: 16 bytes per cycle on preset base unless it says so"
        + (", commands from a ring" if ring else ""),
        caption=caption or None,
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("workload", overflow="fold")
    cells = [_cells(line) for line in lines]
    heads = [head for head in _HEADS if any(each[head] != NOTHING for each in cells)]
    for head in heads:
        table.add_column(head, justify="right")
    for line, each in zip(lines, cells, strict=True):
        table.add_row(line.case.name, *(each[head] for head in heads))
    return table


_HEADS: Final = (
    "cycles",
    "share of",
    "reached",
    "at least",
    "limit",
    "Gemmini",
    "mismatches",
    "KiB",
)


def _cells(line: BenchLine) -> dict[str, str]:
    """What stands in each column; KiB are those of the program."""
    total = line.report.total
    size = total.program_bytes
    values = (
        whole(total.cycles),
        line.case.of,
        judged(line.right, percent(line.reached)),
        percent(line.case.bound),
        percent(line.limit),
        percent(line.case.gemmini),
        mismatches(total),
        NOTHING if size is None else f"{size / (1 << 10):,.1f}",
    )
    return dict(zip(_HEADS, values, strict=True))


def silicon_table(lines: Sequence[SiliconLine]) -> Table:
    """What each point adds, and what workloads reach with it; red: below the bound."""
    table = Table(
        title="Lanes of the normalization unit, and scale bits: preset base, Verilator, sky130",
        caption="MAC utilization, red below its bound; docs/silicon.md says what is counted",
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("", overflow="fold")
    for line in lines:
        table.add_column(f"{line.lanes} lanes\n{line.scale_bits} bits", justify="right")
    table.add_row("the unit adds, kGE", *(f"{line.added_gates / 1000:,.1f}" for line in lines))
    table.add_row("logic, kGE", *(f"{line.area.logic.gates / 1000:,.1f}" for line in lines))
    for name, runs in runs_by_name(lines).items():
        table.add_row(name, *(run and judged(run.right, percent(run.reached)) for run in runs))
        table.add_row("  cycles", *(run and whole(run.report.total.cycles) for run in runs))
    table.add_row("cosine of MiniLM", *(line.accuracy and str(line.accuracy) for line in lines))
    return table


def speed_table(speed: Speed) -> Table:
    """Cycles per second of the model and of the reference loop."""
    table = Table(title="Speed of simulation: preset base, Verilator", title_justify="left")
    table.add_column("workload", overflow="fold")
    for head in ("pair", "model, cycles/s", "array_loop.c, cycles/s", "share", "at least"):
        table.add_column(head, justify="right")
    for line in speed.lines:
        for number, pair in enumerate(line.pairs, 1):
            speeds = (f"{pair.model:,.0f}", f"{pair.loop:,.0f}")
            name = escape(f"{line.case.name}, {line.build}") if number == 1 else ""
            table.add_row(name, str(number), *speeds, f"{pair.share:.3f}", "")
        share = judged(line.right, f"{line.share:.3f}") + (
            "" if line.results_right else " wrong result"
        )
        table.add_row("", "median", "", "", share, f"{line.case.bound:.3f}")
        table.add_section()
    count, again = speed.instructions_per_cycle, speed.profiled_instructions_per_cycle
    counted = "valgrind is not there" if count is None else f"{count:,.0f}"
    if again is not None:
        counted += f", with a profile {again:,.0f}"
    table.caption = f"instructions per simulated cycle: {counted}; {escape(speed.compiler)}, -O1"
    table.caption_justify = "left"
    return table


def compilers_table(rows: Sequence[Row]) -> Table:
    """What the idea of each compiler gains here, beside what its authors say."""
    table = Table(title="Ideas of other compilers, in cycles of the RTL", title_justify="left")
    for head in ("system", "mechanism", "work", "claim"):
        table.add_column(head, overflow="fold")
    table.add_column("gain", justify="right")
    for row in rows:
        color = "" if row.right else "[red]"
        gain = NOTHING if row.gain is None else f"{color}{row.gain:.3f} x"
        cells = (row.about.system, row.about.mechanism, row.work, row.about.claim)
        table.add_row(*map(escape, cells), gain)
    return table


def passes_tables(lines: Sequence[ModelPasses]) -> Iterator[Table]:
    """Each model with all passes and without each that changes it; then each pass by itself."""
    table = Table(
        title="Models without one pass: predicted cycles of accelerator and host",
        title_justify="left",
    )
    table.add_column("model, without", overflow="fold")
    for head in ("accelerator", "host", "RTL", "gain"):
        table.add_column(head, justify="right")
    for line in lines:
        table.add_row(escape(line.model), *_times(line.cycles), judged(line.right, "1.000 x"))
        for each in line.passes:
            gain = NOTHING if each.gain is None else f"{each.gain:.3f} x"
            table.add_row(f"  {each.name}", *_times(each.without), gain)
    yield table
    summary = Table("pass", title="Passes", title_justify="left")
    summary.add_column("models", justify="right")
    summary.add_column("gain, geometric mean", justify="right")
    for name, (models, gain) in by_pass(lines).items():
        summary.add_row(name, whole(models), f"{gain:.3f} x")
    yield summary


def _times(cycles: Cycles | None) -> tuple[str, str, str]:
    if cycles is None:
        return NOTHING, NOTHING, NOTHING
    rtl = NOTHING if cycles.rtl is None else whole(cycles.rtl)
    return whole(cycles.accelerator), whole(cycles.host), rtl


def tuning_table(lines: Sequence[RaceLine]) -> Table:
    """Runs until within 1 % of the target, each search's median; and what tuning gains."""
    table = Table(
        title=f"Runs on the RTL until within 1 % of the target: medians, at most {MOST}",
        title_justify="left",
    )
    table.add_column("workload", overflow="fold")
    for head in (*STRATEGIES, "learned / tpe", "target", "compiler", "tuned from there"):
        table.add_column(head, justify="right")
    for line in lines:
        table.add_row(
            line.workload,
            *(_runs(line.middle(strategy)) for strategy in STRATEGIES),
            f"{line.middle('learned') / line.middle('tpe'):.2f}",
            whole(line.target),
            whole(line.compiler),
            f"{whole(line.tuned)}, {line.compiler / line.tuned:.3f} x",
        )
    return table


def _runs(middle: float) -> str:
    return f"> {MOST}" if middle > MOST else f"{middle:g}"


def trace_table(lines: Sequence[TraceLine]) -> Table:
    """What it costs to follow each instruction."""
    table = Table(title="Runs that are followed: preset base, Verilator", title_justify="left")
    table.add_column("workload", overflow="fold")
    for head in ("cycles", "slower", "at most", "trace, MB per million cycles", "below"):
        table.add_column(head, justify="right")
    for line in lines:
        table.add_row(
            line.name,
            whole(line.cycles),
            judged(line.right, percent(line.slower)),
            percent(SLOWER),
            judged(line.right, f"{line.megabytes_per_million_cycles:.2f}"),
            f"{MEGABYTES:.2f}",
        )
    return table


def weights_table(lines: Sequence[WeightsLine]) -> Table:
    """What weights of four bits gain; red: below a bound, or wrong."""
    table = Table(
        title="Weights of a step of GPT-2 small behind 128 tokens, Verilator",
        caption="share of the memory's limit: bytes of these weights, keys and values, at its rate",
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("preset", overflow="fold")
    table.add_column("weights", overflow="fold")
    for head in ("B/cycle", "cycles", "fewer", "at least", "of limit", "at least", "mismatches"):
        table.add_column(head, justify="right")
    for each in lines:
        line, total = each.step, each.step.report.total
        table.add_row(
            line.case.preset,
            each.weights,
            f"{line.case.timing.bytes_per_cycle}",
            whole(total.cycles),
            NOTHING if each.fewer is None else judged(each.gained, f"{each.fewer:.3f} x"),
            f"{each.least:.2f} x",
            judged(line.kept, percent(line.reached)),
            percent(line.case.bound),
            mismatches(total),
        )
    return table


def advice_table(lines: Sequence[AdviceLine]) -> Table:
    """What was said to help each run, and what it did."""
    table = Table(title="Advice, followed on RTL", title_justify="left")
    table.add_column("run", overflow="fold")
    table.add_column("cycles", justify="right")
    table.add_column("change", overflow="fold")
    for head in ("predicted", "saved", "error"):
        table.add_column(head, justify="right")
    for line in lines:
        error = NOTHING if line.error is None else f"{line.error:+.1%}"
        for number, trial in enumerate(line.trials):
            first = (line.name, whole(line.cycles)) if not number else ("", "")
            cells = (escape(first[0]), first[1], " ".join(trial.change.options))
            saved = (f"{trial.change.saved:,}", f"{trial.saved:,}")
            table.add_row(*cells, *saved, judged(line.right, error))
    if found := followed(lines):
        table.caption = f"{found.runs} errors: mean {found.mean:.1%}, worst {found.worst:.1%}"
        table.caption_justify = "left"
    return table


def cost_table(found: CostSet) -> Table:
    """A table of what was predicted beside what was measured, and the errors."""
    table = Table(title=f"Predicted cycles: {found.name}", title_justify="left")
    table.add_column("work", overflow="fold")
    for head in ("predicted", "measured", "error"):
        table.add_column(head, justify="right")
    for line in found.lines:
        error = NOTHING if line.error is None else f"{line.error:+.2%}"
        table.add_row(escape(line.name), whole(line.predicted), whole(line.measured), error)
    table.add_section()
    for name, error, bound in (
        ("mean", found.mean, found.bounds.mean),
        ("worst", found.worst, found.bounds.worst),
    ):
        table.add_row(f"{name}, at most {bound:.0%}", "", "", judged(found.right, percent(error)))
    return table


def nonlinear_table(found: Nonlinear) -> Table:
    """What each mode takes: RTL, and a model of a host."""
    off, on = (found.utilization(found.line(name)) for name in ("serial", "as compiled"))
    before, after = VTA_UTILIZATION
    table = Table(
        title=f"A layer of {found.shape}, {found.seq} tokens, on base",
        caption=f"Speed-up over offloaded; the survey's is {SURVEY_SPEEDUP}x. With latency hiding "
        f"off and on: {percent(off)} and {percent(on)}; VTA: {percent(before)} and "
        f"{percent(after)}. Accelerator: RTL; host: a model, "
        + ", ".join(f"{kind} {cycles}" for kind, cycles in HOST_CYCLES.items())
        + " cycles per element.",
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("mode", no_wrap=True)
    for head in ("accelerator (RTL)", "host (model)", "cycles", "MAC util.", "speed-up"):
        table.add_column(head, justify="right")
    table.add_column("mismatches", justify="right")
    for line in found.lines:
        speedup = found.speedup(line)
        table.add_row(
            line.mode.name,
            whole(line.measured.cycles),
            whole(sum(line.host.values())),
            whole(line.cycles),
            percent(found.utilization(line)),
            NOTHING if speedup is None else f"{speedup:.1f}x",
            mismatches(line.measured),
        )
    return table
