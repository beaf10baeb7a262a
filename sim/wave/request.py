"""What a user asks for with ``--wave``, ``--wave-window`` and ``--wave-scope``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.output import check_destination
from celosia.sim.support.problems import InputError
from celosia.sim.verilator.build import MODEL_TOP
from celosia.sim.verilator.doctor import absence

__all__ = ["FST", "VCD", "VCD_TO_FST", "WHOLE", "WaveRequest", "check_scope", "parse_request"]

VCD: Final = ".vcd"
FST: Final = ".fst"

VCD_TO_FST: Final = "vcd2fst"
"""The program that makes FST files of what Amaranth's simulator writes."""

_WINDOW: Final = re.compile(r"([0-9]*):([0-9]*)")
WHOLE: Final = 1 << 60
"""Where a window stops that has no end."""
_SHOWN: Final = 40


@dataclass(frozen=True, kw_only=True)
class WaveRequest:
    """A waveform to write: of cycles ``start <= cycle < stop``, from `scope` down.

    Cycle 0 is the one in which the device is ready for its first run; cycles are counted through
    all runs.
    """

    path: Path
    start: int = 0
    stop: int = WHOLE
    scope: str | None = None
    """The scope whose signals are written; None: everything."""
    parts: tuple[tuple[int, int], ...] = ()
    """What is written of these cycles, by Verilator: START:STOP in order, no two of them touching;
    empty: all."""

    @property
    def windows(self) -> tuple[tuple[int, int], ...]:
        """The parts that are written, START:STOP of each."""
        return self.parts or ((self.start, self.stop),)

    @property
    def view_paths(self) -> tuple[Path, Path]:
        """Where views for GTKWave and Surfer go."""
        return self.path.with_suffix(".gtkw"), self.path.with_suffix(".sucl")


def parse_request(
    path: Path | None, window: str | None, scope: str | None, simulator: str
) -> WaveRequest | None:
    """The options' meaning for `simulator`; None without `path`.

    Raises `InputError` for what cannot be written, `OutputError` for where it cannot be written,
    and `EnvironmentProblem` when a tool is missing.
    """
    if path is None:
        for option, value in (("--wave-window", window), ("--wave-scope", scope)):
            if value is not None:
                raise InputError(f"{option} {value}: there is no waveform without --wave FILE")
        return None
    if simulator not in ("amaranth", "verilator"):
        raise InputError(
            f"--wave {path}: {simulator} has no signals; use --sim amaranth or --sim verilator"
        )
    if path.suffix not in (VCD, FST):
        raise InputError(f"--wave {path}: waveforms are {VCD} or {FST} files")
    if path.exists() and not path.is_file():
        raise InputError(f"--wave {path}: is not a file")
    tool = VCD_TO_FST if simulator == "amaranth" else "fst"
    if path.suffix == FST and (missing := absence(tool)):
        raise EnvironmentProblem(f"--wave {path}: {missing}; or name a {VCD} file")
    if scope is not None:  # What is below the top is known when the design is elaborated.
        check_scope(scope if scope.partition(".")[0] != MODEL_TOP else MODEL_TOP, [MODEL_TOP])
    start, stop = _parse_window(window)
    request = WaveRequest(path=path, start=start, stop=stop, scope=scope)
    for target in (path, *request.view_paths):
        check_destination(target)
    return request


def check_scope(scope: str | None, known: Sequence[str]) -> None:
    """Raise `InputError` with what there is if `scope` is not one of the `known` ones."""
    if scope is None or scope in known:
        return
    # The longest part of it that exists, and what is in there.
    parent = scope
    while parent and parent not in known:
        parent = parent.rpartition(".")[0]
    there = [path for path in known if path.rpartition(".")[0] == parent]
    place = f"in {parent} there " if parent else "there "
    if not there:
        raise InputError(f"--wave-scope {scope}: {place}are no scopes")
    names = ", ".join(there[:_SHOWN]) + (", ..." if len(there) > _SHOWN else "")
    raise InputError(f"--wave-scope {scope}: no such scope; {place}are {names}")


def _parse_window(text: str | None) -> tuple[int, int]:
    if text is None:
        return 0, WHOLE
    match = _WINDOW.fullmatch(text)
    if not match:
        raise InputError(f"--wave-window {text}: write START:STOP, cycles; either may be left out")
    start, stop = int(match[1] or 0), int(match[2] or WHOLE)
    if start >= stop:
        raise InputError(f"--wave-window {text}: START must be below STOP, which is not included")
    if stop > WHOLE:
        raise InputError(f"--wave-window {text}: STOP must not be above 2^60")
    return start, stop
