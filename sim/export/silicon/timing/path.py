"""A path from register to register."""

from dataclasses import dataclass

__all__ = ["RegisterPath"]


@dataclass(frozen=True)
class RegisterPath:
    """The longest path of a module from one of its registers to one of its registers."""

    begin: str
    """The register that it begins at."""
    end: str
    """The register that it ends at; a net before the register where tools do not say more."""
    levels: int
    """Cells on it, registers not counted."""
    ns: float | None = None
    """From the clock's edge to the data of the register at its end; null: not known."""
