"""What the steps of a text cost on a device, and what of them was compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import typer
from rich.console import Console
from rich.table import Table

from celosia.isa.documents.record import Hidden, Key
from celosia.sim.command.options.report import CheckChoice
from celosia.sim.support.display import progress_bar
from celosia.sim.support.guard import WRONG
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import counted
from celosia.sw.decoding.comparison import Comparison, DifferenceError
from celosia.sw.decoding.decoder import Decoder
from celosia.sw.decoding.session import DecoderSession, Step
from celosia.sw.driver.device import Device, DeviceError
from celosia.sw.reference.encoder import Floats

__all__ = ["CountedText", "Taken"]

_COLUMNS: Final = (
    *("steps", "number", "tokens", "cycles per step", "cycles per token"),
    *("of the memory's limit", "tokens per limit"),
)


@dataclass
class Taken:
    """A step, and how many of its tokens the text kept."""

    step: Hidden[Step]
    prompt: bool
    """Whether it took tokens of the prompt."""
    kept: int
    """Tokens that were right: so many it made."""

    @Key
    def context(self) -> int:
        """The tokens before it."""
        return self.step.text.context

    @Key
    def rows(self) -> int:
        """Rows of its products."""
        return self.step.rows

    @Key
    def tokens(self) -> int:
        """Tokens that it took: the rest of its rows is of no token."""
        return self.step.text.rows

    @Key
    def cycles(self) -> int | None:
        """Its cycles; null without a clock."""
        return self.step.cycles

    @Key
    def bytes(self) -> int:
        """Bytes of weights, and of keys and values, that it has to read."""
        return self.step.bytes


class CountedText:
    """A text on `device` (`Continued`) that counts its steps."""

    def __init__(self, device: Device, model: Decoder, context: int, check: CheckChoice):
        self._comparison = Comparison(outputs=check is CheckChoice.OUTPUTS)
        behind = [] if check is CheckChoice.NONE else [self._comparison]
        self._session = DecoderSession(device, model, context, *behind)
        self.taken: list[Taken] = []
        """The steps so far."""

    @property
    def elements(self) -> int:
        """Elements that were compared so far."""
        return self._comparison.elements

    def prepare(self, tokens: int) -> None:
        """Compile the programs for the first `tokens`.

        Raises `InputError` for an accelerator that cannot run them.
        """
        with progress_bar() as tell:
            tell("compiling the first steps", None)
            try:
                self._session.prepare(tokens)
            except ValueError as error:
                raise InputError(str(error)) from None

    def append(self, tokens: Sequence[int]) -> Floats:
        """Ends the command with exit code 1 if the device stops, or computes something else."""
        prompt = not self._session.length
        try:
            logits, steps = self._session.append(tokens)
        except (DeviceError, DifferenceError) as error:
            typer.echo(f"\ncelosia: {error}", err=True)
            raise typer.Exit(WRONG) from None
        self.taken += [Taken(step, prompt, step.text.rows) for step in steps]
        return logits

    def go_back(self, length: int) -> None:
        """The tokens behind the first `length` were not right: no step before the last had them."""
        self.taken[-1].kept -= self._session.length - length
        self._session.go_back(length)

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
        what = "of the outputs" if self._comparison.outputs else "in memory"
        console.print(
            f"0 of {self.elements:,} elements {what} differ from the integer graph"
            if self.elements
            else "nothing was compared with the integer graph"
        )

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
