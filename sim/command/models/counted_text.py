"""What the steps of a text cost on a device, and what of them was compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table

from celosia.isa.documents.record import Key
from celosia.sim.command.models.checked_steps import CheckedSteps
from celosia.sim.command.models.counted_step import CountedStep
from celosia.sim.support.words import counted
from celosia.sw.decoding.session import SlotText
from celosia.sw.reference.encoder import Floats

__all__ = ["CountedText", "Taken"]

_COLUMNS: Final = (
    *("steps", "number", "tokens", "cycles per step", "cycles per token"),
    *("of the memory's limit", "tokens per limit"),
)


@dataclass
class Taken(CountedStep):
    """A step, and how many of its tokens the text kept."""

    kept: int
    """Tokens that were right: so many it made."""

    @Key
    def context(self) -> int:
        """The tokens before it."""
        return self.step.text.context


class CountedText:
    """A text (`Continued`) that counts its steps."""

    def __init__(self, checked: CheckedSteps):
        self.checked, self._text = checked, SlotText(checked.steps)
        self.taken: list[Taken] = []
        """The steps so far."""

    def append(self, tokens: Sequence[int]) -> Floats:
        """Ends the command as `CheckedSteps.ending` does."""
        prompt = not self._text.length
        with self.checked.ending():
            logits, steps = self._text.append(tokens)
        self.taken += [Taken(step, prompt, step.text.rows) for step in steps]
        return logits

    def go_back(self, length: int) -> None:
        """The tokens behind the first `length` were not right: no step before the last had them."""
        self.taken[-1].kept -= self._text.length - length
        self._text.go_back(length)

    def show(self, console: Console, rate: int, drafted: int | None) -> None:
        """A table of the steps, if there is a clock, and what was compared.

        `rate` is that of memory in bytes per cycle, `drafted` how many tokens a draft has at most.
        """
        following = [taken for taken in self.taken if not taken.prompt]
        if self.taken[0].step.cycles is not None:
            console.print(self._table(following, rate))
        if drafted and following:
            accepted = [taken.kept - 1 for taken in following]
            lengths = ", ".join(
                f"{length} in {counted(accepted.count(length), 'step')}"
                for length in sorted(set(accepted))
            )
            console.print(f"accepted of {drafted} foretold tokens at most: {lengths}")
        console.print(self.checked.compared)

    def _table(self, following: Sequence[Taken], rate: int) -> Table:
        caption = f"limit: weights and caches at {rate} bytes per cycle"
        table = Table(caption=caption)
        for name in _COLUMNS:
            table.add_column(name, justify="left" if name == "steps" else "right")
        self._add(table, "of the prompt", [taken for taken in self.taken if taken.prompt], rate)
        for rows in sorted({taken.step.rows for taken in following}):
            alike = [taken for taken in following if taken.step.rows == rows]
            self._add(table, f"of {counted(rows, 'row')}", alike, rate)
        if len({taken.step.rows for taken in following}) > 1:
            self._add(table, "behind the prompt", following, rate)
        return table

    def _add(self, table: Table, name: str, steps: Sequence[Taken], rate: int) -> None:
        cycles = sum(taken.step.cycles or 0 for taken in steps)
        tokens = sum(taken.kept for taken in steps)
        share = sum(taken.step.bytes for taken in steps) / rate / cycles
        table.add_row(
            name,
            f"{len(steps):,}",
            f"{tokens:,}",
            f"{cycles / len(steps):,.0f}",
            f"{cycles / tokens:,.0f}",
            f"{share:.1%}",
            f"{tokens / len(steps) * share:.2f}",
        )
