"""The tables of what is checked of energies."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.sim.export.silicon.checks.agreement import Agreement
from celosia.sim.export.silicon.checks.checks import Checks
from celosia.sim.export.silicon.checks.flat import WINDOWS, FlatCheck
from celosia.sim.export.silicon.checks.glitches import Glitches
from celosia.sim.export.silicon.checks.short_run import CYCLES

__all__ = ["FLAT_AGREES", "TEXTS_AGREE", "print_agreements", "print_checks"]

TEXTS_AGREE: Final = 0.05
"""How far windows of a text may be from what energies of another one say."""
FLAT_AGREES: Final = 0.10
"""How far the sum over units may be from the whole netlist."""


def print_agreements(console: Console, found: Sequence[Agreement]) -> None:
    """How far texts are apart: all units together, and each group."""
    if not found:
        return
    table = Table(title="Windows of a text by energies of another", title_justify="left")
    for head in ("windows of", "energies of", "units"):
        table.add_column(head)
    for head in ("measured, nJ", "by the other, nJ", "apart"):
        table.add_column(head, justify="right")
    for each in found:
        table.add_row(
            f"text {each.of + 1}",
            f"text {each.by + 1}",
            escape(each.meaning or "all"),
            f"{each.measured_pj / 1000:,.1f}",
            f"{each.priced_pj / 1000:,.1f}",
            f"{each.apart:+.1%}",
        )
    console.print(table)
    furthest = max(abs(each.apart) for each in found if not each.meaning)
    agree = "" if furthest <= TEXTS_AGREE else "not "
    console.print(
        f"All units together: {furthest:.1%} at most, so that texts do {agree}agree to "
        f"{TEXTS_AGREE:.0%}.",
        markup=False,
    )


def print_checks(console: Console, found: Checks) -> int:
    """What was checked; the exit code: 1 if the sum over units is too far from the whole."""
    if found.glitches:
        _print_glitches(console, found.glitches)
    if found.flat is None:
        return 0
    _print_flat(console, found.flat)
    return int(found.flat.furthest > FLAT_AGREES)


def _print_flat(console: Console, found: FlatCheck) -> None:
    """The sum over units beside the whole, window by window."""
    table = Table(title="The sum over units, and the whole as one netlist", title_justify="left")
    table.add_column("cycles")
    for head in ("units, pJ a cycle", "whole, pJ a cycle", "units, edges", "whole, edges", "apart"):
        table.add_column(head, justify="right")
    for window in range(WINDOWS):
        cycles = f"{CYCLES * window // WINDOWS}:{CYCLES * (window + 1) // WINDOWS}"
        units, whole = found.units, found.whole
        table.add_row(
            cycles,
            f"{units.total(window):,.0f}",
            f"{whole.total(window):,.0f}",
            f"{units.edges_pj[window]:,.0f}",
            f"{whole.edges_pj[window]:,.0f}",
            f"{found.apart(window):+.1%}",
        )
    console.print(table)
    for name, each in (("units", found.units), ("whole", found.whole)):
        console.print(
            f"{name}: {each.gates:,} outputs of gates, {each.flip_flops:,} flip-flops, clock pins "
            f"{each.clock_pj:,.0f} pJ a cycle; {each.outputs - each.wrong:,} of {each.outputs:,} "
            "outputs are in all cycles what was recorded.",
            markup=False,
        )
    agree = "" if found.furthest <= FLAT_AGREES else "not "
    console.print(f"They do {agree}agree to {FLAT_AGREES:.0%}.", markup=False)


def _print_glitches(console: Console, found: Sequence[Glitches]) -> None:
    """What glitches add to each part."""
    table = Table(title="Edges with the delays of cells, and without", title_justify="left")
    table.add_column("part")
    for head in ("gates", "without, pJ a cycle", "with, pJ a cycle", "factor"):
        table.add_column(head, justify="right")
    for each in found:
        table.add_row(
            escape(each.part),
            f"{each.gates:,}",
            f"{each.without_pj:.2f}",
            f"{each.with_pj:.2f}",
            f"{each.factor:.2f}",
        )
    console.print(table)
