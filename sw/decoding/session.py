"""A text that a decoder goes on with on a device.

A text can go back to a shorter one by its length alone: what is behind it is overwritten by the
next step, and no token sees it.
"""

from collections.abc import Sequence

import numpy as np

from celosia.sw.decoding.decoder import Decoder, check_shorter, check_tokens
from celosia.sw.decoding.steps import ROWS, Behind, Step, Steps
from celosia.sw.decoding.texts import Place
from celosia.sw.driver.device import Device
from celosia.sw.reference.encoder import Floats

__all__ = ["DecoderSession", "SlotText"]


class SlotText:
    """A text in a slot of `steps`, which others may be in beside it."""

    def __init__(self, steps: Steps, slot: int = 0):
        self.steps, self.slot = steps, slot
        self.length = 0
        """Tokens of the text so far."""

    @property
    def place(self) -> Place:
        """Where the next step finds it."""
        return Place(self.slot, self.length)

    def prepare(self, tokens: int) -> None:
        """Compile the programs that the next `tokens` begin with.

        Raises `ValueError` for an accelerator that does not have what they need.
        """
        self.steps.prepare([self.place], tokens)

    def append(self, tokens: Sequence[int]) -> tuple[Floats, list[Step]]:
        """The logits (tokens x vocabulary) of what follows each of `tokens`, and the steps.

        Raises `ValueError` for no tokens, more than the context has room for, or one outside the
        vocabulary, `DeviceError` for a device that stops, and what is told of segments raises.
        """
        check_tokens(tokens, self.length, self.steps.context, self.steps.model.vocabulary)
        pieces = [tokens[start : start + ROWS] for start in range(0, len(tokens), ROWS)]
        logits, steps = zip(*map(self._step, pieces), strict=True)
        return np.concatenate(logits), list(steps)

    def _step(self, tokens: Sequence[int]) -> tuple[Floats, Step]:
        (logits,), step = self.steps.take([self.place], [tokens])
        self.length += len(tokens)
        return logits, step

    def go_back(self, length: int) -> None:
        """Forget all tokens behind the first `length`; nothing is moved in memory.

        Raises `ValueError` for a length that the text does not have.
        """
        check_shorter(length, self.length)
        self.length = length


class DecoderSession(SlotText):
    """One text of up to `context` tokens on `device`, as `Steps` are."""

    def __init__(
        self, device: Device, model: Decoder, context: int, behind: Behind = lambda _: None
    ):
        super().__init__(Steps(device, model, context, behind=behind))
