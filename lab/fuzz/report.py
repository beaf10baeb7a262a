"""What a fuzzing campaign tells at its end."""

from rich.console import Console
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.lab.fuzz.coverage import all_points
from celosia.lab.fuzz.findings import Findings, What
from celosia.lab.fuzz.signals import SignalCoverage, exemption
from celosia.sim.support.words import counted

__all__ = ["print_findings", "print_signals"]

_LISTED = 40
"""Signals that are named, at most."""


def print_findings(
    console: Console, found: Findings, config: AcceleratorConfig, what: What
) -> None:
    """Print how much was done, what was exercised, and what is wrong."""
    if what is What.PROGRAMS:
        _print_coverage(console, found, config)
    for point, count in sorted(found.points.items()):
        if what in {What.FILES, What.MODELS}:
            console.print(f"{point}: {count:,}", markup=False)
    rate = 60 * found.cases / found.seconds if found.seconds else 0.0
    console.print(
        f"{found.cases:,} {what}, {counted(found.commands, 'command')} in {found.seconds:.0f} s: "
        f"{rate:,.0f} {what} per minute; {len(found.failures)} failed"
    )
    for name, why in found.failures:
        console.print(f"{name}: {why}", markup=False)


def _print_coverage(console: Console, found: Findings, config: AcceleratorConfig) -> None:
    wanted = all_points(config)
    table = Table("coverage", "exercised", "missed", title="Fuzzing")
    for group in ("instruction", "transform", "hazard", "owner"):
        asked = {p for p in wanted if p.startswith(group)}
        if asked:
            missed = sorted(p.partition(" ")[2] for p in asked - found.points.keys())
            share = 100 * (len(asked) - len(missed)) / len(asked)
            text = f"{len(asked) - len(missed)} of {len(asked)} ({share:.1f}%)"
            table.add_row(group, text, ", ".join(missed) or "-")
    console.print(table)


def print_signals(console: Console, seen: SignalCoverage) -> None:
    """Print the states, transitions and signals that were not seen, and those left out."""
    table = Table("coverage", "exercised", "missed", title=f"Signals, {seen.programs} programs")
    changed = {name for name, count in seen.changes.items() if count}
    groups = {
        "state": ({p for p in seen.machines if p.startswith("state")}, seen.points),
        "transition": ({p for p in seen.machines if p.startswith("transition")}, seen.points),
        "signal of one bit": ({*seen.changes}, changed),
    }
    reasons: dict[str, int] = {}
    for group, (known, reached) in groups.items():
        missed = known - reached
        for reason in filter(None, map(exemption, missed)):
            reasons[reason] = reasons.get(reason, 0) + 1
        asked = {name for name in known if name in reached or not exemption(name)}
        missed = sorted(missed & asked)
        share = 100 * (len(asked) - len(missed)) / max(1, len(asked))
        more = [f"and {len(missed) - _LISTED} more"] if len(missed) > _LISTED else []
        text = f"{len(asked) - len(missed)} of {len(asked)} ({share:.1f}%)"
        table.add_row(group, text, ", ".join([*missed[:_LISTED], *more]) or "-")
    console.print(table)
    for reason, count in sorted(reasons.items()):
        console.print(f"left out: {count}: {reason}")
