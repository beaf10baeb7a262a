"""A row of the table: a system, its idea, and what the idea gains here in cycles of the RTL."""

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Row", "System"]


@dataclass(frozen=True, kw_only=True)
class System:
    """A compiler, and what its authors say."""

    system: str
    mechanism: str
    """Its idea, as a part of Celosia's compiler."""
    claim: str
    """What its paper reports, on its machines."""
    source: str


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a system's idea gains."""

    about: System
    work: str
    """What was measured."""
    gain: float | None
    """Cycles without it over cycles with it, on RTL; None: nothing was measured."""
    cycles: dict[str, int]
    """The cycles that it is made of, by what they are of."""
    right: bool = True
    """Whether every result was right."""

    def document(self) -> dict[str, Any]:
        """The row as an object for JSON."""
        rest = {"work": self.work, "gain": self.gain, "cycles": self.cycles, "right": self.right}
        return asdict(self.about) | rest
