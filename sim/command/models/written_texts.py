"""Texts of many prompts, printed in the order of the prompts, and the report of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import typer

from celosia.isa.documents.record import Inline, Record
from celosia.sim.command.models.checked_steps import CheckedSteps
from celosia.sim.command.models.prompts import Prompt
from celosia.sim.command.models.shared_steps import SharedStep, show_steps
from celosia.sim.command.models.text_model import TextModel
from celosia.sim.command.models.written_text import TextSetting
from celosia.sim.run.origin import Origin, write_document
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.output import STANDARD_OUTPUT
from celosia.sim.support.words import command_line, counted
from celosia.sw.decoding.batch import Following, generate_texts
from celosia.sw.decoding.float_session import FloatSession
from celosia.sw.reference.language.sampling import Sampler, generate

__all__ = ["TextsReport", "WrittenTexts"]


@dataclass(frozen=True, kw_only=True)
class _Text:
    """A text of a prompt."""

    prompt: str
    """The line that was given."""
    prompt_tokens: Sequence[int]
    """Its tokens, with those that the model puts before a text."""
    text: str
    """What followed."""
    tokens: Sequence[int]
    """Its tokens."""


@dataclass(frozen=True, kw_only=True)
class TextsReport(Record):
    """Texts that went on behind a prompt each, and their steps."""

    schema: Literal["celosia.texts/1"] = "celosia.texts/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    origin: Inline[Origin] = field(default_factory=lambda: Origin(command_line=command_line()))
    setting: Inline[TextSetting]
    status: Literal["right", "wrong", "unchecked"]
    """What was compared with the integer graph; `unchecked`: nothing was."""
    sampler: Inline[Sampler]
    """How the tokens of each text are chosen: all have the same seed."""
    texts: Sequence[_Text]
    """The texts in the order of their prompts, as far as they came."""
    steps: Sequence[SharedStep]
    """The steps in order; none with `float`."""
    elements_checked: int
    """Elements that were compared."""


@dataclass(frozen=True, kw_only=True)
class WrittenTexts:
    """Texts that go on behind prompts."""

    model: TextModel
    prompts: Sequence[Prompt]
    sampler: Sampler
    json: str | None
    """Where the report goes; None: nowhere."""
    count: int
    """Tokens that follow in each at most."""
    _taken: list[SharedStep] = field(default_factory=list, init=False)
    """The steps so far."""

    def go_on(self, checked: CheckedSteps | None, setting: TextSetting) -> None:
        """Print each text as soon as it and all before it have ended, and then as `WrittenText`."""
        tokens: list[list[int]] = [[] for _ in self.prompts]
        try:
            self._print(self._following(checked), tokens)
        except typer.Exit:
            self._report(tokens, checked, setting, failed=True)
            raise
        self._report(tokens, checked, setting, failed=False)
        if checked and setting.memory:
            console = table_console(self.json)
            show_steps(console, self._taken, setting.memory.bytes_per_cycle)
            console.print(checked.compared)

    def _following(self, checked: CheckedSteps | None) -> Iterator[Following]:
        model = self.model
        if checked is None:
            for number, begin in enumerate(model.begins):
                session = FloatSession(model.graph, model.context)
                for token in generate(session, begin, self.count, self.sampler, end=model.end):
                    yield Following(number, token)
                yield Following(number, None)
            return
        with checked.ending():
            yield from generate_texts(
                checked.steps,
                model.begins,
                self.count,
                self.sampler,
                end=model.end,
                told=lambda step, prompt: self._taken.append(SharedStep(step, prompt)),
            )

    def _print(self, following: Iterator[Following], tokens: list[list[int]]) -> None:
        quiet, printed = self.json == STANDARD_OUTPUT, 0
        ended = set[int]()
        while printed < len(self.prompts):
            # A bar and texts have the terminal by turns.
            with progress_bar() as tell:
                while printed not in ended:
                    each = next(following)
                    if each.token is None:
                        ended.add(each.text)
                    else:
                        tokens[each.text].append(each.token)
                    known = counted(sum(map(len, tokens)), "token")
                    what = f"{known}; {len(ended)} of {counted(len(tokens), 'text')} ended"
                    tell(what, len(ended) / len(tokens))
            while printed in ended:
                whole = self.prompts[printed].text + self._text(tokens[printed])
                typer.echo(f"{printed + 1}: {whole}", err=quiet)
                printed += 1

    def _text(self, tokens: Sequence[int]) -> str:
        return "".join(self.model.tokenizer.pieces(iter(tokens)))

    def _report(
        self,
        tokens: Sequence[Sequence[int]],
        checked: CheckedSteps | None,
        setting: TextSetting,
        *,
        failed: bool,
    ) -> None:
        elements = checked.elements if checked else 0
        texts = zip(self.prompts, self.model.begins, tokens, strict=True)
        report = TextsReport(
            setting=setting,
            status="wrong" if failed else "right" if elements else "unchecked",
            sampler=self.sampler,
            texts=[
                _Text(prompt=p.text, prompt_tokens=begin, text=self._text(found), tokens=found)
                for p, begin, found in texts
            ],
            steps=self._taken,
            elements_checked=elements,
        )
        write_document(self.json, report)
