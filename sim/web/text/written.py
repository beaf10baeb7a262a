"""A text that a device has written, for pages and tests to compare their own with."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from celosia.isa.memory import MEMORY_BASE
from celosia.sim.web.text.source import TextSource
from celosia.sw.decoding.drafts.draft import draft_of
from celosia.sw.decoding.drafts.lookup import look_up
from celosia.sw.decoding.session import RecordedText, SlotText
from celosia.sw.decoding.steps import Step
from celosia.sw.reference.language.sampling import Sampler, generate
from celosia.sw.reference.language.tokenizer import END

__all__ = ["EXAMPLE", "Asked", "Written", "write"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a text begins with, and how it goes on."""

    prompt: str
    tokens: int
    """How many follow at most."""
    sampler: Sampler
    drafted: int = 0
    """Tokens that are foretold for a step at most."""

    def document(self) -> dict[str, Any]:
        """As the page has it; a seed has up to 64 bits, and is a text."""
        return {
            "prompt": self.prompt,
            "tokens": self.tokens,
            "temperature": self.sampler.temperature,
            "topP": self.sampler.top_p,
            "seed": str(self.sampler.seed),
            "drafted": self.drafted,
        }


EXAMPLE: Final = Asked(
    prompt="If the argument is", tokens=32, sampler=Sampler(temperature=0.7, top_p=0.9, seed=2)
)
"""What the page begins with."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """What followed, and what it took."""

    tokens: Sequence[int]
    """What followed, without the end of the text."""
    text: str
    steps: Sequence[Step]
    digest: str
    """SHA-256 of all of device memory behind the last step, hexadecimal."""

    def document(self) -> dict[str, Any]:
        """As the page has it."""
        return {
            "tokens": list(self.tokens),
            "text": self.text,
            "cycles": [step.cycles for step in self.steps],
            "digest": self.digest,
        }


def write(source: TextSource, text: SlotText, asked: Asked) -> Written:
    """What follows on the device of `text`, from an empty text on.

    Raises what the steps do, and `TokenizerError` for a prompt that is no text.
    """
    text.go_back(0)
    recorded, tokenizer = RecordedText(text), source.tokenizer
    draft = draft_of(asked.drafted, look_up, source.ngrams) if asked.drafted else None
    begin = [END, *tokenizer.encode(asked.prompt)]
    tokens = list(generate(recorded, begin, asked.tokens, asked.sampler, end=END, draft=draft))
    device = text.steps.device
    memory = device.read(MEMORY_BASE, device.memory_bytes)
    return Written(
        tokens=tokens,
        text="".join(tokenizer.pieces(iter(tokens))),
        steps=recorded.steps,
        digest=hashlib.sha256(memory).hexdigest(),
    )
