"""What a fuzzing campaign tells at its end."""

from rich.console import Console
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.sim.fuzz.campaign import Findings
from celosia.sim.fuzz.coverage import all_points, exempt_points

__all__ = ["print_findings"]


def print_findings(console: Console, found: Findings, config: AcceleratorConfig) -> None:
    """Print how much was done, what was exercised, and what is wrong."""
    exempt, wanted = exempt_points(), all_points(config)
    table = Table("coverage", "exercised", "missed", title="Fuzzing")
    for group in ("instruction", "transform", "hazard"):
        asked = {p for p in wanted if p.startswith(group) and p not in exempt}
        if asked:
            missed = sorted(p.partition(" ")[2] for p in asked - found.points.keys())
            share = 100 * (len(asked) - len(missed)) / len(asked)
            text = f"{len(asked) - len(missed)} of {len(asked)} ({share:.1f}%)"
            table.add_row(group, text, ", ".join(missed) or "-")
    console.print(table)
    for point, reason in sorted(exempt.items()):
        if point in wanted:
            console.print(f"left out: {point}: {reason}")
    rate = 60 * found.programs / found.seconds if found.seconds else 0.0
    console.print(
        f"{found.programs:,} programs, {found.commands:,} commands in {found.seconds:.0f} s: "
        f"{rate:,.0f} programs per minute; {len(found.failures)} failed"
    )
    for name, why in found.failures:
        console.print(f"{name}: {why}", markup=False)
