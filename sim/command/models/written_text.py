"""A text that is printed as it comes, and the report of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import typer

from celosia.isa.documents.record import As, Inline, Record
from celosia.isa.memory import MemoryTiming
from celosia.sim.command.models.checked_steps import CheckedSteps
from celosia.sim.command.models.counted_text import CountedText, Taken
from celosia.sim.command.models.drafts import Drafts
from celosia.sim.command.models.text_model import TextModel
from celosia.sim.run.origin import Origin, ShownMemory, write_document
from celosia.sim.support.display import table_console
from celosia.sim.support.output import STANDARD_OUTPUT
from celosia.sim.support.words import command_line
from celosia.sw.decoding.float_session import FloatSession
from celosia.sw.reference.language.sampling import Continued, Sampler, generate

__all__ = ["TextReport", "TextSetting", "WrittenText"]


def _shown(timing: MemoryTiming | None) -> ShownMemory | None:
    return None if timing is None else ShownMemory.of(timing)


@dataclass(frozen=True)
class TextSetting:
    """What computes a text."""

    simulator: str
    """A simulator, or `float`: the reference, in NumPy."""
    preset: str | None = None
    """The accelerator; null with `float`."""
    memory: Annotated[MemoryTiming | None, As(_shown)] = None
    """Its memory; null with `float`."""


@dataclass(frozen=True, kw_only=True)
class TextReport(Record):
    """A text that went on behind a prompt, and its steps."""

    schema: Literal["celosia.generate/1"] = "celosia.generate/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    origin: Inline[Origin] = field(default_factory=lambda: Origin(command_line=command_line()))
    setting: Inline[TextSetting]
    status: Literal["right", "wrong", "unchecked"]
    """What was compared with the integer graph; `unchecked`: nothing was."""
    prompt: str
    """What was given."""
    prompt_tokens: Sequence[int]
    """Its tokens, with those that the model puts before a text."""
    text: str
    """What followed."""
    tokens: Sequence[int]
    """Its tokens."""
    sampler: Inline[Sampler]
    speculate: int | None
    """Tokens that are foretold for a step at most, or null."""
    drafts: Sequence[str]
    """Where guesses came from, the first that has one first."""
    steps: Sequence[Taken]
    """The steps in order; none with `float`."""
    elements_checked: int
    """Elements that were compared."""


@dataclass(frozen=True, kw_only=True)
class WrittenText:
    """A text that goes on behind a prompt."""

    model: TextModel
    prompt: str
    count: int
    """Tokens that follow at most."""
    sampler: Sampler
    drafts: Drafts
    json: str | None
    """Where the report goes; None: nowhere."""
    _tokens: list[int] = field(default_factory=list, init=False)
    _pieces: list[str] = field(default_factory=list, init=False)

    def go_on(self, checked: CheckedSteps | None, setting: TextSetting) -> None:
        """Print the text, its report, which begins with `setting`, and what its steps cost.

        Without steps it is computed in float32.  A device that ends the text (`typer.Exit`) leaves
        a report as well.
        """
        counted = None if checked is None else CountedText(checked)
        try:
            self._print(counted or FloatSession(self.model.graph, self.model.context))
        except typer.Exit:
            self._report(counted, setting, failed=True)
            raise
        self._report(counted, setting, failed=False)
        if counted and setting.memory:
            rate = setting.memory.bytes_per_cycle
            counted.show(table_console(self.json), rate, self.drafts.most)

    def _print(self, continued: Continued) -> None:
        quiet = self.json == STANDARD_OUTPUT
        typer.echo(self.prompt, nl=False, err=quiet)
        following = generate(
            continued,
            self.model.begins[0],
            self.count,
            self.sampler,
            end=self.model.end,
            draft=self.drafts.draft,
        )
        for piece in self.model.tokenizer.pieces(self._noted(following)):
            self._pieces.append(piece)
            typer.echo(piece, nl=False, err=quiet)
        typer.echo(err=quiet)

    def _noted(self, tokens: Iterator[int]) -> Iterator[int]:
        for token in tokens:
            self._tokens.append(token)
            yield token

    def _report(self, counted: CountedText | None, setting: TextSetting, *, failed: bool) -> None:
        elements = counted.checked.elements if counted else 0
        report = TextReport(
            setting=setting,
            status="wrong" if failed else "right" if elements else "unchecked",
            prompt=self.prompt,
            prompt_tokens=self.model.begins[0],
            text="".join(self._pieces),
            tokens=self._tokens,
            sampler=self.sampler,
            speculate=self.drafts.most,
            drafts=self.drafts.names,
            steps=counted.taken if counted else [],
            elements_checked=elements,
        )
        write_document(self.json, report)
