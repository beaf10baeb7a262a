"""Where the sources are, if they are: an installed package has no documents and no benchmarks."""

from pathlib import Path

import celosia.isa
from celosia.sim.support.problems import InputError

__all__ = ["checkout_root"]


def checkout_root() -> Path:
    """The root of the checkout that this code is in.  Raises `InputError` if there is none."""
    root = Path(next(iter(celosia.isa.__path__))).resolve().parent
    if not (root / "pyproject.toml").is_file():
        raise InputError(f"{root}: not a checkout of Celosia; this works in one only")
    return root
