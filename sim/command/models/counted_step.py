"""What a step of a text or of several cost, as reports have it."""

from dataclasses import dataclass

from celosia.isa.documents.record import Hidden, Key
from celosia.sw.decoding.steps import Step

__all__ = ["CountedStep"]


@dataclass
class CountedStep:
    """A step."""

    step: Hidden[Step]
    prompt: bool
    """Whether it took tokens of a prompt."""

    @Key
    def rows(self) -> int:
        """Rows of its products."""
        return self.step.rows

    @Key
    def tokens(self) -> int:
        """Tokens that it took: the rest of its rows is of no token."""
        return sum(text.rows for text in self.step.texts)

    @Key
    def cycles(self) -> int | None:
        """Its cycles; null without a clock."""
        return self.step.cycles

    @Key
    def bytes(self) -> int:
        """Bytes of weights, and of keys and values of its texts, that it has to read."""
        return self.step.bytes
