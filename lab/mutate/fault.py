"""What a patch, a planted fault and a generated change have in common."""

from pathlib import Path
from typing import Protocol

__all__ = ["Fault", "plant"]


class Fault(Protocol):
    """A change of sources that tests should notice."""

    @property
    def name(self) -> str:
        """What it is called in tables."""
        ...

    @property
    def title(self) -> str:
        """What it does, in words."""
        ...

    @property
    def tests(self) -> tuple[str, ...]:
        """Arguments of pytest, one string per run; empty: what mirrors its files."""
        ...

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that it changes, below the root, with slashes."""
        ...

    def changed(self, root: Path) -> dict[str, str | None]:
        """What becomes of its files below `root`; None: nothing.

        Raises `InputError` that names the fault and the place, if it does not apply.
        """
        ...


def plant(fault: Fault, root: Path) -> None:
    """Change the files below `root`, or raise `InputError` and change none."""
    for path, text in fault.changed(root).items():
        target = root / path
        if text is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
