"""Which queries meet which keys, and where a factor for each column may move between them.

One tensor may have several roles: keys that two attentions read, a product that is queries and
keys, heads whose columns overlap.  Factors move range from queries into keys, so columns that are
both cannot have any.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from celosia.sw.ir.graph import View
from celosia.sw.quantize.units.units import Attention

__all__ = ["Cluster", "Columns", "Group", "Meeting", "score_clusters"]


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of a value, those of a head."""

    key: str
    """The value's."""
    col: int
    cols: int

    @classmethod
    def of(cls, view: View) -> "Columns":
        """The columns that a rectangle is in."""
        return cls(view.tensor, view.col, view.cols)

    @property
    def slice(self) -> slice:
        """Their place in a row."""
        return slice(self.col, self.col + self.cols)

    @property
    def each(self) -> list[tuple[str, int]]:
        """Each column by itself."""
        return [(self.key, col) for col in range(self.col, self.col + self.cols)]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Queries and keys of a head."""

    attention: str
    """The tensor that it computes."""
    queries: Columns
    keys: Columns


@dataclass(frozen=True)
class Group:
    """Heads whose queries or keys have columns in common."""

    meetings: tuple[Meeting, ...]

    @property
    def queries(self) -> list[Columns]:
        """The queries of all heads, each once."""
        return list(dict.fromkeys(meeting.queries for meeting in self.meetings))

    @property
    def keys(self) -> list[Columns]:
        """The keys of all heads, each once."""
        return list(dict.fromkeys(meeting.keys for meeting in self.meetings))

    @property
    def apart(self) -> bool:
        """Whether no column is in two of its queries and keys."""
        every = [column for span in (*self.queries, *self.keys) for column in span.each]
        return len(set(every)) == len(every)


@dataclass(frozen=True)
class Cluster:
    """Attentions that have queries or keys in common, directly or by others."""

    groups: tuple[Group, ...]
    mixed: bool
    """Columns have several roles, or other ones in each text: all of a tensor have one step."""

    @property
    def columns(self) -> list[Columns]:
        """All queries and keys."""
        return [span for group in self.groups for span in (*group.keys, *group.queries)]


def score_clusters(attentions: Iterable[Attention]) -> list[Cluster]:
    """The heads of all attentions, by what they have in common."""
    meetings: list[Meeting] = []
    moving: set[str] = set()
    """Attentions of which each text has columns of its own."""
    for unit in attentions:
        texts = {tuple(_meetings(unit, text)): None for text in range(len(unit.heads))}
        meetings += dict.fromkeys(meeting for text in texts for meeting in text)
        if len(texts) > 1:
            moving.add(unit.value.tensor)
    clusters = []
    for together in _joined(meetings, lambda each: [each.attention, *_columns(each)]):
        groups = tuple(Group(tuple(each)) for each in _joined(together, _columns))
        mixed = not all(group.apart for group in groups)
        mixed |= any(meeting.attention in moving for meeting in together)
        clusters.append(Cluster(groups, mixed))
    return clusters


def _meetings(unit: Attention, text: int) -> Iterator[Meeting]:
    for head in unit.heads[text]:
        yield Meeting(unit.value.tensor, Columns.of(head.query), Columns.of(head.key))


def _columns(meeting: Meeting) -> list[Hashable]:
    return [*meeting.queries.each, *meeting.keys.each]


_T = TypeVar("_T")


def _joined(items: Sequence[_T], places: Callable[[_T], Iterable[Hashable]]) -> list[list[_T]]:
    """Items that have places in common, directly or by others, in their order."""
    above: Final = list(range(len(items)))

    def top(index: int) -> int:
        while above[index] != index:
            above[index] = index = above[above[index]]
        return index

    first: dict[Hashable, int] = {}
    for index, item in enumerate(items):
        for place in places(item):
            one, other = sorted((top(first.setdefault(place, index)), top(index)))
            above[other] = one
    found: dict[int, list[_T]] = {}
    for index, item in enumerate(items):
        found.setdefault(top(index), []).append(item)
    return list(found.values())
