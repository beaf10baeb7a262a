"""Two runs beside each other: by operator and cause."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.sim.profile.losses import clocked_operators, group_cycles
from celosia.sim.profile.resources import ARRAY, groups

__all__ = ["Comparison", "Difference", "compare", "run_names"]

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Difference:
    """What the array spent on one operator in one way, in both runs."""

    operator: str
    group: str
    first: int
    second: int

    @property
    def change(self) -> int:
        """Cycles more in the second."""
        return self.second - self.first


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The second run against the first."""

    first: int
    """Cycles."""
    second: int
    differences: tuple[Difference, ...]
    """The differences that are not 0, the largest first."""
    only_first: tuple[str, ...]
    """Operators that the second run does not have."""
    only_second: tuple[str, ...]
    settings: tuple[tuple[str, object, object], ...]
    """What the two were told differently."""

    @property
    def percent(self) -> float:
        """How much slower the second is."""
        return self.share(self.second - self.first)

    def share(self, cycles: int) -> float:
        """What `cycles` more are of the first run, in percent."""
        return 100 * cycles / self.first

    @property
    def differing(self) -> str:
        """What the two were told differently, in words."""
        told = [f"{name} {left} -> {right}" for name, left, right in self.settings]
        return f"What differs: {'; '.join(told)}." if told else "No setting differs."

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators that differ, in the order of the largest difference."""
        return tuple(dict.fromkeys(each.operator for each in self.differences))


def compare(first: Document, second: Document) -> Comparison:
    """Two runs that have cycles; operators of the same name are compared."""
    before, after = _by_operator(first), _by_operator(second)
    names = dict.fromkeys([*before, *after])
    none: dict[str, int] = {}
    found = [
        Difference(
            name, group, before.get(name, none).get(group, 0), after.get(name, none).get(group, 0)
        )
        for name in names
        for group in groups(ARRAY)
    ]
    changed = [each for each in found if each.change]
    return Comparison(
        first=first["cycles"],
        second=second["cycles"],
        differences=tuple(sorted(changed, key=lambda each: (-abs(each.change), each.operator))),
        only_first=tuple(name for name in before if name not in after),
        only_second=tuple(name for name in after if name not in before),
        settings=tuple(_settings(first, second)),
    )


def run_names(paths: Sequence[str], documents: Sequence[Document]) -> list[tuple[str, str]]:
    """What tells two runs apart, of each: where its report is, and what was run.

    Files of the same name are told by the folders that they are in.
    """
    parts = [Path(path).parts for path in paths]
    most = max(map(len, parts))
    depth = next(
        (depth for depth in range(1, most) if len({each[-depth:] for each in parts}) > 1), most
    )
    return [
        (str(Path(*each[-depth:])), _ran(document))
        for each, document in zip(parts, documents, strict=True)
    ]


def _ran(document: Document) -> str:
    shape = document.get("shape")
    words = [document["workload"], *([shape] if shape else [])]
    return f"{' '.join(words)} on {document.get('preset')}"


def _by_operator(document: Document) -> dict[str, dict[str, int]]:
    return {
        part["workload"]: group_cycles(ARRAY, part["counters"])
        for part in clocked_operators(document)
    }


def _settings(first: Document, second: Document) -> Iterator[tuple[str, object, object]]:
    for key in ("workload", "preset", "simulator", "issue", "commit"):
        if first.get(key) != second.get(key):
            yield key, first.get(key), second.get(key)
    for table in ("config", "memory", "versions"):
        for key in dict.fromkeys([*first[table], *second[table]]):
            left, right = first[table].get(key), second[table].get(key)
            if left != right:
                yield f"{table}: {key}", left, right
