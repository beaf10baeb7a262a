"""What a fuzzing campaign is asked to do, and what has come out so far."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["Batch", "Findings", "Plan", "What"]


class What(StrEnum):
    """What is random."""

    PROGRAMS = "programs"
    """Programs of commands: the functional model against the RTL."""
    GRAPHS = "graphs"
    """Graphs of operators: operators, program and commands, and a device if there is one."""
    MODELS = "models"
    """ONNX models: another runtime against the float graph, and integers on a device."""
    FILES = "files"
    """Files that are damaged: the command line against its rules for bad input."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a campaign does."""

    preset: str
    overrides: tuple[str, ...]
    simulator: str
    seconds: float
    seed: int
    place: str
    """The directory of findings."""
    what: What = What.PROGRAMS
    kinds: tuple[str, ...] = ()
    """Kinds of files, of `KINDS`; none: all."""


@dataclass
class Findings:
    """What has come out so far."""

    cases: int = 0
    commands: int = 0
    batches: int = 0
    """All cases of so many batches are done."""
    seconds: float = 0.0
    failures: list[tuple[str, str]] = field(default_factory=list)
    """A file that shows it, and what is wrong."""
    points: dict[str, int] = field(default_factory=dict)

    def add(self, other: "Findings") -> None:
        """Take over what a batch has found."""
        self.cases += other.cases
        self.commands += other.commands
        self.batches += other.batches
        self.failures += other.failures
        self.points = dict(Counter(self.points) + Counter(other.points))


@dataclass(frozen=True)
class Batch:
    """What a batch has found, and the files that show it."""

    found: Findings
    files: Mapping[str, str | bytes] = field(default_factory=dict)
