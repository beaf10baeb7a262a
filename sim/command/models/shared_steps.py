"""What steps of many texts cost on a device, by how many texts there is room for, and with time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table

from celosia.isa.documents.record import Key
from celosia.sim.command.models.counted_step import CountedStep
from celosia.sim.support.words import counted

__all__ = ["SharedStep", "show_steps"]

_COLUMNS: Final = ("tokens", "cycles per step", "cycles per token", "of the memory's limit")
_STRETCHES: Final = 8
"""Rows of the table of time, at most."""


@dataclass
class SharedStep(CountedStep):
    """A step of one text's prompt, or of a token of each of the texts beside each other."""

    @Key
    def contexts(self) -> list[int]:
        """The tokens of each text before it."""
        return [text.context for text in self.step.texts]


def show_steps(console: Console, steps: Sequence[SharedStep], rate: int) -> None:
    """Tables of steps that have a clock; `rate` is that of memory in bytes per cycle."""
    if steps[0].cycles is None:
        return
    table = _table("steps", "number")
    for name, found in _alike(steps):
        _add(table, (name, f"{len(found):,}"), found, rate)
    console.print(table)
    table = _table("with time", "texts in a step")
    table.caption = f"limit: weights and caches at {rate} bytes per cycle"
    for first, found in _stretches(steps):
        texts = sum(len(step.contexts) for step in found) / len(found)
        last = first + len(found)
        label = f"steps {first + 1:,} to {last:,}" if len(found) > 1 else f"step {last:,}"
        _add(table, (label, f"{texts:.1f}"), found, rate)
    console.print(table)


def _alike(steps: Sequence[SharedStep]) -> Iterator[tuple[str, Sequence[SharedStep]]]:
    """The steps of prompts, and the others by the texts that they have room for."""
    prompts = [step for step in steps if step.prompt]
    together = [step for step in steps if not step.prompt]
    kinds = [("of prompts", prompts)]
    for rows in sorted({step.rows for step in together}, reverse=True):
        found = [step for step in together if step.rows == rows]
        kinds.append((f"of up to {counted(rows, 'text')}", found))
    yield from (kind for kind in [*kinds, ("behind prompts", together)] if kind[1])


def _stretches(steps: Sequence[SharedStep]) -> Iterator[tuple[int, Sequence[SharedStep]]]:
    """Equally many steps each, but for the last."""
    size = -(-len(steps) // _STRETCHES)
    for first in range(0, len(steps), size):
        yield first, steps[first : first + size]


def _table(first: str, second: str) -> Table:
    table = Table()
    for name in (first, second, *_COLUMNS):
        at_left = name == first
        table.add_column(name, justify="left" if at_left else "right", no_wrap=at_left)
    return table


def _add(table: Table, labels: tuple[str, str], steps: Sequence[SharedStep], rate: int) -> None:
    cycles = sum(step.cycles or 0 for step in steps)
    tokens = sum(step.tokens for step in steps)
    share = sum(step.bytes for step in steps) / rate / cycles
    table.add_row(
        *labels,
        f"{tokens:,}",
        f"{cycles / len(steps):,.0f}",
        f"{cycles / tokens:,.0f}",
        f"{share:.1%}",
    )
