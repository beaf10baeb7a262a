"""What drafts gain: the steps that fixed texts take with them, and the cycles of these steps.

Drafts never change a text, so it is made once; which steps it takes follows from it and from the
draft.  Cycles of a step depend on its rows and on the bucket of its length alone: each pair is run
once, and texts that are run step by step show that it is so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from celosia.sw.decoding.comparison import Comparison
from celosia.sw.decoding.decoder import Decoder
from celosia.sw.decoding.session import DecoderSession, RecordedText
from celosia.sw.decoding.steps import BUCKET, Step, step_rows
from celosia.sw.driver.device import Device
from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.random_words import RandomWords
from celosia.sw.reference.language.sampling import Draft, Sampler, generate

__all__ = ["PROMPT", "Clock", "Gain", "gain", "go_on", "prompts", "replay"]

PROMPT: Final = 16
"""Tokens of a prompt."""


def prompts(
    documents: Sequence[Sequence[int]], count: int, tokens: int = PROMPT
) -> list[list[int]]:
    """The first tokens of so many documents, evenly from all that have a prompt and one more."""
    long = [document for document in documents if len(document) > PROMPT]
    return [list(long[number * len(long) // count][:tokens]) for number in range(count)]


def go_on(
    session: DecoderSession, begin: Sequence[int], count: int, sampler: Sampler, draft: Draft | None
) -> tuple[list[int], list[Step]]:
    """So many tokens behind those that a text begins with, and the steps behind these.

    An end of a text is a token like others.
    """
    session.go_back(0)
    text = RecordedText(session)
    found = list(generate(text, begin, count, sampler, draft=draft))
    return found, [step for step in text.steps if step.text.context >= len(begin)]


@dataclass(frozen=True, kw_only=True)
class _Known(Sampler):
    """Chooses the tokens of a text, whatever the logits are."""

    tokens: Iterator[int]

    def choose(self, logits: Floats, random: RandomWords) -> int:
        """The next token of the text."""
        return next(self.tokens)


@dataclass
class _Taken:
    """A text (`Continued`) without a model: which tokens steps took."""

    length: int = 0
    steps: list[tuple[int, int]] = field(default_factory=list)
    """The tokens before a step, and those of the step."""

    def append(self, tokens: Sequence[int]) -> Floats:
        self.steps.append((self.length, len(tokens)))
        self.length += len(tokens)
        return np.zeros((len(tokens), 1), np.float32)

    def go_back(self, length: int) -> None:
        self.length = length


def replay(
    text: Sequence[int], begin: int, draft: Draft | None, until: int
) -> list[tuple[int, int]]:
    """The tokens before each step and those that it takes, if `text` goes on to `until` tokens.

    The steps are those behind the first `begin` tokens, without the one that takes these.
    """
    taken, known = _Taken(), _Known(tokens=iter(text[begin:until]))
    count = len(text[begin:until])
    assert list(generate(taken, text[:begin], count, known, draft=draft)) == text[begin:until]
    return taken.steps[1:]


class Clock:
    """Cycles of steps on a device, by rows and bucket; each is run once, all tensors compared."""

    def __init__(self, device: Device, model: Decoder, context: int):
        self.session = DecoderSession(device, model, context, Comparison())
        self._random = np.random.default_rng(1)
        self._known: dict[tuple[int, int], Step] = {}

    def step(self, context: int, tokens: int) -> Step:
        """A step of so many tokens behind `context` others, or one that takes as long."""
        key = step_rows(tokens), context - context % BUCKET
        if key not in self._known:
            session = self.session
            session.go_back(min(session.length, key[1]))
            if session.length < key[1]:
                session.append(self._tokens(key[1] - session.length))
            _, (self._known[key],) = session.append(self._tokens(tokens))
        return self._known[key]

    def _tokens(self, count: int) -> list[int]:
        return self._random.integers(0, self.session.steps.model.vocabulary, count).tolist()

    def cycles(self, steps: Sequence[tuple[int, int]]) -> int:
        """Cycles of all steps, each by its context and tokens."""
        return sum(self.step(*step).cycles or 0 for step in steps)


@dataclass(frozen=True, kw_only=True)
class Gain:
    """What some texts took with a draft, behind the step of their prompts, and without."""

    tokens: int
    """Tokens that these steps made."""
    steps: int
    """Steps with a draft."""
    foretold: int
    """Tokens that the draft foretold."""
    accepted: int
    """Foretold tokens that were right."""
    cycles: int
    """Cycles of these steps."""
    plain_cycles: int
    """Cycles without a draft."""
    limit: float
    """Cycles of the limit of memory of one step, the mean of plain steps."""

    @property
    def times(self) -> float:
        """How many times fewer cycles it took."""
        return self.plain_cycles / self.cycles

    @property
    def tokens_per_limit(self) -> float:
        """Tokens in the time that memory needs for one plain step."""
        return self.tokens * self.limit / self.cycles


def gain(
    texts: Sequence[Sequence[int]], begin: int, draft: Draft, until: int, clock: Clock, rate: int
) -> Gain:
    """What `draft` gains in `texts` that go on to `until` tokens; memory has `rate` bytes."""
    runs = [replay(text, begin, draft, until) for text in texts]
    plain = [step for text in texts for step in replay(text, begin, None, until)]
    steps = [step for run in runs for step in run]
    tokens = len(plain)
    return Gain(
        tokens=tokens,
        steps=len(steps),
        foretold=sum(taken - 1 for _, taken in steps),
        accepted=tokens - len(steps),
        cycles=clock.cycles(steps),
        plain_cycles=clock.cycles(plain),
        limit=sum(clock.step(*step).bytes for step in plain) / rate / tokens,
    )
