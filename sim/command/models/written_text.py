"""A text that is printed as it comes, and the report of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import typer

from celosia.sim.command.models.counted_text import CountedText
from celosia.sim.command.models.drafts import Drafts
from celosia.sim.command.models.text_model import TextModel
from celosia.sim.run.report import as_json, commit, versions
from celosia.sim.support.output import STANDARD_OUTPUT, write_file
from celosia.sim.support.words import command_line
from celosia.sw.reference.language.sampling import Continued, Sampler, generate

__all__ = ["GENERATE_SCHEMA", "WrittenText"]

GENERATE_SCHEMA: Final = "celosia.generate/1"


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

    def go_on(self, continued: Continued, setting: Mapping[str, Any]) -> None:
        """Print the text and write its report, which begins with `setting`.

        A device that ends the text (`typer.Exit`) leaves a report as well.
        """
        try:
            self._print(continued)
        except typer.Exit:
            self._report(continued, setting, failed=True)
            raise
        self._report(continued, setting, failed=False)

    def _print(self, continued: Continued) -> None:
        quiet = self.json == STANDARD_OUTPUT
        typer.echo(self.prompt, nl=False, err=quiet)
        following = generate(
            continued,
            self.model.begin,
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

    def _report(self, continued: Continued, setting: Mapping[str, Any], *, failed: bool) -> None:
        if self.json is None:
            return
        counted = continued if isinstance(continued, CountedText) else None
        elements = counted.elements if counted else 0
        document = {
            "schema": GENERATE_SCHEMA,
            "status": "wrong" if failed else "right" if elements else "unchecked",
            "versions": versions(),
            "commit": commit(),
            "command_line": list(command_line()),
            **setting,
            "prompt": self.prompt,
            "prompt_tokens": list(self.model.begin),
            "text": "".join(self._pieces),
            "tokens": self._tokens,
            "temperature": self.sampler.temperature,
            "top_p": self.sampler.top_p,
            "seed": self.sampler.seed,
            "speculate": self.drafts.most,
            "drafts": list(self.drafts.names),
            "steps": [taken.document() for taken in counted.taken] if counted else [],
            "elements_checked": elements,
        }
        write_file(self.json, as_json(document))
