"""Reports as tables on a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.sim.command.outputs.graph_tables import (
    groups_table,
    memory_line,
    on_chip_line,
    rounded_line,
    similarity_table,
)
from celosia.sim.command.outputs.owner_tables import owner_table
from celosia.sim.command.outputs.table_cells import (
    NOTHING,
    mismatches,
    percent,
    run_caption,
    run_title,
    whole,
)
from celosia.sim.run.report import Measurement, Report
from celosia.sim.verilator.doctor import Finding

__all__ = ["doctor_table", "print_report", "results_table"]


def print_report(
    console: Console, report: Report, *, owners: bool = False, layers: bool = False
) -> None:
    """The results, the owners of their cycles, and what went wrong.

    Every owner is printed with `owners`, and every layer with `layers`.
    """
    whole, check = report.whole is not None, report.setting.check
    console.print(groups_table(report, every=layers) if whole else results_table(report))
    total = report.total
    if total.counters.get("cycles") or total.until_stopped.get("cycles"):
        console.print(owner_table(total, every=owners))
    if report.on_chip:
        console.print(on_chip_line(report.on_chip, check))
    if report.memory_plan:
        console.print(memory_line(report.memory_plan, check))
    if report.rounded_scales:
        console.print(rounded_line(report.rounded_scales))
    if report.similarity:
        console.print(similarity_table(report.similarity))
    for part in report.operators if report.whole is None else [total]:
        if part.failure:
            console.print(f"[red]{escape(part.name)}: stopped: {escape(part.failure.message)}[/]")
        elif part.mismatches:
            console.print(
                f"[red]{escape(part.name)}: {part.mismatches:,} of {part.elements_checked:,} "
                "elements are wrong[/]"
            )
        elif not part.elements_checked and check != "none":
            console.print(f"[red]{escape(part.name)}: nothing was checked[/]")


def results_table(report: Report) -> Table:
    """A line for each operator, and one for all of them if there are several."""
    setting = report.setting
    table = Table(
        title=run_title(setting),
        caption=run_caption(setting),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("product", overflow="fold")
    table.add_column("M x N x K")
    for head in ("cycles", "MAC util.", "limit", "bytes", "mismatches"):
        table.add_column(head, justify="right")
    for part in report.operators:
        table.add_row(*_result_row(part, setting.config))
    if len(report.operators) > 1:
        table.add_section()
        table.add_row(*_result_row(report.total, setting.config))
    return table


def _result_row(part: Measurement, config: AcceleratorConfig) -> tuple[str, ...]:
    return (
        escape(part.name),
        part.shape or NOTHING,
        whole(part.cycles),
        percent(part.utilization(config)),
        _limit(part, config),
        f"{part.dram_read_bytes + part.dram_write_bytes:,}",
        mismatches(part),
    )


def _limit(part: Measurement, config: AcceleratorConfig) -> str:
    share = part.limit_utilization(config)
    if part.limit is None or share is None:
        return NOTHING
    return percent(share) + ("" if part.limit.bound == "compute" else f" ({part.limit.bound})")


def doctor_table(findings: Sequence[Finding]) -> Table:
    """A table of the tools that were found, and of the packages that have the missing ones."""
    table = Table()
    table.add_column("tool", no_wrap=True)
    table.add_column("found", overflow="fold")
    table.add_column("for", overflow="fold", style="dim")
    for finding in findings:
        tool = finding.tool
        if finding.detail is not None:
            found = f"[green]{escape(finding.detail)}[/]"
        else:
            color = "red" if finding.required else "yellow"
            needed = ", but required" if finding.required else ""
            found = f"[{color}]no{needed}: {escape(tool.package)}[/]"
        table.add_row(tool.name, found, escape(tool.purpose))
    return table
