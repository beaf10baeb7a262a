"""A path from register to register."""

from dataclasses import dataclass

__all__ = ["RegisterPath"]


@dataclass(frozen=True)
class RegisterPath:
    """The longest path of a module from one of its registers or memories to one of them."""

    begin: str
    """The register that it begins at."""
    end: str
    """The register that it ends at; a net before the register where tools do not say more."""
    levels: int
    """Cells on it, registers not counted."""
    ns: float | None = None
    """From the clock's edge to the data of the register at its end; null: not known."""
    set_up: float = 0.0
    """How long before the next edge that register wants its data, in ns."""

    @property
    def period(self) -> float:
        """What the path asks of a cycle, in ns, set-up included; 0 if its time is not known."""
        return 0.0 if self.ns is None else self.ns + self.set_up
