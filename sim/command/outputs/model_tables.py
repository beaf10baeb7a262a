"""What a run of a model prints beside the tables of its segments."""

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.markup import escape

from celosia.sim.command.outputs.graph_tables import memory_line
from celosia.sim.run.models.distances import Distance
from celosia.sim.run.models.model_outcome import ModelOutcome
from celosia.sim.run.report import Report
from celosia.sim.support.fitted import Column, FittedTable
from celosia.sim.support.words import counted

__all__ = ["outputs_table", "print_model"]


def print_model(console: Console, outcome: ModelOutcome) -> None:
    """How far outputs are from float, who computed what, and notes."""
    time = outcome.time
    if outcome.distances:
        console.print(outputs_table(outcome.distances))
    console.print(
        f"{_compared(outcome.reports)}; {outcome.placement.accelerator_mac_share:.2%} of the "
        f"{counted(outcome.placement.macs, 'multiply-accumulate')} are the accelerator's"
        + ("" if time is None else f", and {time.accelerator_time_share:.2%} of the predicted time")
    )
    plans = [each.memory_plan for each in outcome.reports]
    for number, plan in enumerate(plans if len(plans) > 1 else ()):
        if plan is not None:
            console.print(f"segment {number}: {memory_line(plan)}")
    if outcome.host:
        listed = ", ".join(f"{count} {op}" for op, count in outcome.host.most_common())
        operators = counted(outcome.host.total(), "operator")
        verb = "runs" if outcome.host.total() == 1 else "run"
        console.print(f"warning: {operators} {verb} on the host: {listed}")
    if outcome.saturated:
        listed = ", ".join(f"{n:,} of {name}" for name, n in outcome.saturated.most_common(3))
        total = counted(outcome.saturated.total(), "element")
        ends = "end of its range" if total == "1 element" else "ends of their ranges"
        console.print(f"{total} at the {ends}: {listed}", markup=False)
    for note in outcome.notes:
        console.print(f"note: {note}", markup=False)


def _compared(reports: Sequence[Report]) -> str:
    """What was compared, and how much of it differs."""
    segments = counted(len(reports), "segment")
    if reports[0].setting.check == "none":
        return f"nothing in {segments} was compared"
    checked = sum(report.total.elements_checked for report in reports)
    wrong = sum(report.total.mismatches or 0 for report in reports)
    what = "elements" if reports[0].setting.check == "all" else "elements of the outputs"
    return f"{wrong:,} of {checked:,} {what} in {segments} differ from the integer graph"


def outputs_table(distances: Sequence[Distance]) -> FittedTable:
    """How far outputs are from float; columns that nothing has are left out."""
    columns: dict[Column, Callable[[Distance], str]] = {
        Column("SQNR"): lambda each: f"{each.sqnr_db:.1f} dB",
        Column("exact functions", needless=1): lambda each: f"{each.exact_sqnr_db:.1f} dB",
        Column("cosine"): lambda each: f"{each.cosine:.5f}",
        Column("pooled cosine"): lambda each: _optional(each.pooled_cosine, ".5f"),
        Column("same largest"): lambda each: _optional(each.top1, ".2%"),
    }
    shown = {
        column: cells
        for column, of in columns.items()
        if any(cells := [of(each) for each in distances])
    }
    captions = [
        f"{escape(each.name)}: {each.counted} counted, those of tokens that somebody sees; all of "
        f"them give {each.all_sqnr_db:.1f} dB, cosine {each.all_cosine:.5f}"
        for each in distances
        if each.counted.rows < each.counted.of
    ]
    table = FittedTable(columns=(Column("output", "name"), *shown), caption="\n".join(captions))
    for number, each in enumerate(distances):
        table.add_row(each.name, *(cells[number] for cells in shown.values()))
    return table


def _optional(number: float | None, form: str) -> str:
    return "" if number is None else format(number, form)
