"""What a search has found: of one graph by strategies, of a model by its graphs."""

from collections.abc import Sequence

from rich.table import Table

from celosia.lab.tune.search import STRATEGIES, Part, trials_until
from celosia.lab.tune.tuning_log import DEFAULT, Entry, TuningLog
from celosia.sim.command.outputs.table_cells import NOTHING
from celosia.sim.support.problems import InputError

__all__ = ["graphs_table", "strategies_table"]


def strategies_table(log: TuningLog, size: int) -> Table:
    """What each strategy has found for a graph of so many plans, and how soon it was near the best.

    Raises `InputError` if no plan is legal.
    """
    best = _least(log.entries)
    tried = sum(each.strategy != DEFAULT for each in log.entries)
    title = (
        f"the best of {tried:,} tried plans and the compiler's own takes {best:,} cycles; "
        f"there are {size:,} plans"
    )
    table = Table("strategy", title=title, title_justify="left")
    for head in ("trials", "illegal", "best", "more", "trials until within 1 %"):
        table.add_column(head, justify="right")
    for strategy in (DEFAULT, *STRATEGIES):
        if not (entries := log.of(strategy)):
            continue
        legal = [each.cycles for each in entries if each.cycles is not None]
        until = trials_until(entries, best)
        table.add_row(
            strategy,
            f"{len(entries):,}",
            f"{len(entries) - len(legal):,}",
            f"{min(legal):,}" if legal else NOTHING,
            f"{min(legal) / best - 1:+.2%}" if legal else NOTHING,
            NOTHING if until is None else f"{until:,}",
        )
    return table


def graphs_table(log: TuningLog, parts: Sequence[Part]) -> Table:
    """What was found for each graph of a model, and for all of them as often as they run.

    Before is what the compiler's own plan takes; if it is illegal, as much as the best.  Raises
    `InputError` if no plan of a graph is legal.
    """
    table = Table("graph", title_justify="left")
    for head in ("runs", "trials", "illegal", "cycles before", "after", "more"):
        table.add_column(head, justify="right")
    whole = [0, 0, 0, 0, 0]
    for part in parts:
        entries = log.part(part.key)
        own, after = log.of(DEFAULT, part.key), _least(entries)
        before = own[0].cycles or after
        tried = [each for each in entries if each.strategy != DEFAULT]
        illegal = sum(each.cycles is None for each in tried)
        row = [part.runs, len(tried), illegal, before, after]
        _add_row(table, str(part.first.graph), row)
        times = (1, 1, 1, part.runs, part.runs)
        whole = [sum_ + time * each for sum_, time, each in zip(whole, times, row, strict=True)]
    table.add_section()
    _add_row(table, "all", whole)
    _, tried, _, before, after = whole
    table.title = (
        f"the best of {tried:,} tried plans and the compiler's own take {after:,} cycles, "
        f"the compiler's alone {before:,}"
    )
    return table


def _add_row(table: Table, name: str, numbers: Sequence[int]) -> None:
    """Numbers of a graph, or of all, and by how much cycles are more than before."""
    *_, before, after = numbers
    table.add_row(name, *(f"{each:,}" for each in numbers), f"{after / before - 1:+.2%}")


def _least(entries: Sequence[Entry]) -> int:
    """The fewest cycles of a plan.  Raises `InputError` if none is legal."""
    if cycles := [each.cycles for each in entries if each.cycles is not None]:
        return min(cycles)
    raise InputError(f"no plan is legal; the first: {entries[0].refused}")
