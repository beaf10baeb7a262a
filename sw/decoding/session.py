"""A text that a decoder goes on with on a device.

A text can go back to a shorter one by its length alone: what is behind it is overwritten by the
next step, and no token sees it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from celosia.sw.decoding.decoder import Decoder, check_shorter, check_tokens
from celosia.sw.decoding.steps import Behind, Step, Steps
from celosia.sw.decoding.texts import Place
from celosia.sw.driver.device import Device
from celosia.sw.reference.encoder import Floats

__all__ = ["DecoderSession", "RecordedText", "SlotText"]


class SlotText:
    """A text in a slot of `steps`, which others may be in beside it."""

    def __init__(self, steps: Steps, slot: int = 0):
        self.steps, self.slot = steps, slot
        self.length = 0
        """Tokens of the text so far."""
        self._most = 0
        """The tokens of the longest text since it was empty: what rings have overwritten."""

    @property
    def place(self) -> Place:
        """Where the next step finds it."""
        return Place(self.slot, self.length)

    def prepare(self, tokens: int) -> None:
        """Compile the programs that the next `tokens` begin with.

        Raises `ValueError` for an accelerator that does not have what they need.
        """
        first = next(self.steps.pieces(self.length, range(tokens)))
        self.steps.prepare([self.place], len(first))

    def append(self, tokens: Sequence[int]) -> tuple[Floats, list[Step]]:
        """The logits (tokens x vocabulary) of what follows each of `tokens`, and the steps.

        Raises `ValueError` for no tokens, more than the context has room for, or one outside the
        vocabulary, `DeviceError` for a device that stops, and what is told of segments raises.
        """
        check_tokens(tokens, self.length, self.steps.context, self.steps.model.vocabulary)
        pieces = self.steps.pieces(self.length, tokens)
        logits, steps = zip(*map(self._step, pieces), strict=True)
        return np.concatenate(logits), list(steps)

    def _step(self, tokens: Sequence[int]) -> tuple[Floats, Step]:
        (logits,), step = self.steps.take([self.place], [tokens])
        self.length += len(tokens)
        self._most = max(self._most, self.length)
        return logits, step

    def go_back(self, length: int) -> None:
        """Forget all tokens behind the first `length`; nothing is moved in memory.

        Raises `ValueError` for a length that the text does not have, and for one so far back that a
        ring does not hold its window any more.
        """
        check_shorter(length, self.length)
        slack = min((ring.slack for ring in self.steps.rings), default=self._most)
        if 0 < length < self._most - slack:
            raise ValueError(
                f"length: {length} is more than {slack} before the {self._most} tokens of the "
                "text, which the ring of a window does not hold"
            )
        self.length, self._most = length, self._most if length else 0


class DecoderSession(SlotText):
    """One text of up to `context` tokens on `device`, as `Steps` are."""

    def __init__(
        self, device: Device, model: Decoder, context: int, behind: Behind = lambda _: None
    ):
        super().__init__(Steps(device, model, context, behind=behind))


@dataclass
class RecordedText:
    """A text (`sampling.Continued`) that keeps its steps."""

    text: SlotText
    steps: list[Step] = field(default_factory=list)
    """The steps so far."""

    def append(self, tokens: Sequence[int]) -> Floats:
        """The text's logits; raises as it does."""
        logits, steps = self.text.append(tokens)
        self.steps += steps
        return logits

    def go_back(self, length: int) -> None:
        """What the text does."""
        self.text.go_back(length)
