"""Rules find parts of a graph, numbers prove what is to take their place, and it does.

A `Level` is a kind of graph: how it is read, proved and rebuilt.  A `Rule` is a function from
graphs of a level to graphs of it; recognizers and substitutions differ in what they find only.

A rule that raises is a mistake of its own: the node at which it does is left out, and it goes on.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from celosia.sw.rewriting.mistakes import MISTAKE, MISTAKES, told
from celosia.sw.rewriting.walk import Walk

__all__ = [
    "Fault",
    "Level",
    "Match",
    "Proofs",
    "Refusal",
    "Rewritten",
    "Rule",
    "Step",
    "alternatives",
    "apply_rule",
    "exhaust",
    "sweep",
]

MOST_SWEEPS: Final = 64
"""Sweeps after which a rule that still finds something is a mistake."""


class Match(Protocol):
    """A part of a graph, and what is to take its place."""

    @property
    def what(self) -> str:
        """What was found, for messages."""
        ...

    @property
    def root(self) -> str:
        """The node that the part is named after."""
        ...


@dataclass(frozen=True)
class Refusal:
    """A part that looked like a match, and why it is none."""

    what: str
    root: str
    reason: str

    def __str__(self) -> str:
        return f"{self.root}: looks like {self.what}, but {self.reason}"


@dataclass(frozen=True)
class Fault(Refusal):
    """A rule, as `what`, that raised an error, which is the `reason`."""

    def __str__(self) -> str:
        place = f" at {self.root}" if self.root else ""
        return f"{self.what} is left out{place}: {self.reason}; {MISTAKE}"


class Reading(Protocol):
    """What rules ask of a graph."""

    @property
    def nodes(self) -> Walk[Any]:
        """The nodes, for a rule that looks at each."""
        ...


_Graph = TypeVar("_Graph")
_Reader = TypeVar("_Reader", bound=Reading)
_Match = TypeVar("_Match", bound=Match)

Proofs = MutableMapping[Hashable, str | None]
"""Where replacements differ from what they are to replace, by the likeness of the part."""


@dataclass(frozen=True, kw_only=True)
class Level(Generic[_Graph, _Reader, _Match]):
    """A kind of graph."""

    name: str
    """Its dialect."""
    read: Callable[[_Graph], _Reader]
    """What rules ask."""
    likeness: Callable[[_Reader, _Match], Hashable]
    """Matches with one likeness have one proof."""
    difference: Callable[[_Reader, _Match], str | None]
    """Where numbers show that a replacement is none; None: nowhere."""
    rebuild: Callable[[_Graph, Mapping[str, _Match]], _Graph]
    """The graph with replacements, by their roots; those that do not fit behind others wait."""


@dataclass(frozen=True, kw_only=True)
class Rule(Generic[_Graph, _Reader, _Match]):
    """A function from graphs to graphs, by name."""

    name: str
    summary: str
    """One sentence of what it does."""
    level: Level[_Graph, _Reader, _Match]
    find: Callable[[_Reader], Iterable[_Match | Refusal]]
    repeats: bool = True
    """It may find more in what it has made."""


@dataclass(frozen=True)
class Rewritten(Generic[_Graph, _Match]):
    """What became of a graph."""

    graph: _Graph
    accepted: dict[str, _Match]
    """What was replaced, by its root."""
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True)
class Step(Generic[_Graph]):
    """One way to go on from a graph."""

    rule: str
    roots: tuple[str, ...]
    """The nodes that the replaced parts are named after."""
    graph: _Graph


def sweep(
    rule: Rule[_Graph, _Reader, _Match], graph: _Graph, proofs: Proofs | None = None
) -> Rewritten[_Graph, _Match]:
    """The graph with all that the rule finds in it and numbers prove, and what they do not."""
    accepted: dict[str, _Match] = {}
    refused: list[Refusal] = []
    for found in _proved(rule, rule.level.read(graph), {} if proofs is None else proofs):
        if isinstance(found, Refusal):
            refused.append(found)
        else:
            accepted[found.root] = found
    if not accepted:
        return Rewritten(graph, {}, tuple(refused))
    done = _rebuilt(rule, graph, accepted)
    return Rewritten(done.graph, done.accepted, (*refused, *done.refusals))


def exhaust(
    rule: Rule[_Graph, _Reader, _Match], graph: _Graph, proofs: Proofs | None = None
) -> Rewritten[_Graph, _Match]:
    """`sweep` again and again, until the rule finds nothing more; once, if it does not repeat."""
    known: Proofs = {} if proofs is None else proofs
    done = sweep(rule, graph, known)
    accepted = dict(done.accepted)
    for _ in range(MOST_SWEEPS if rule.repeats else 0):
        if not done.accepted:
            return Rewritten(done.graph, accepted, done.refusals)
        done = sweep(rule, done.graph, known)
        accepted |= done.accepted
    assert not rule.repeats, f"{rule.name} finds something in its own result for ever"
    return Rewritten(done.graph, accepted, done.refusals)


def apply_rule(rule: Rule[Any, Any, Any], graph: Any) -> Any:
    """The graph behind all that a rule finds: the rule as a function."""
    return exhaust(rule, graph).graph


def alternatives(
    rule: Rule[_Graph, _Reader, _Match], graph: _Graph, proofs: Proofs
) -> Iterator[Step[_Graph]]:
    """The graphs that one use of a rule leads to: of parts that are alike, all are replaced.

    Layers that are alike so take one step together; a part that is like no other takes one alone.
    """
    reader = rule.level.read(graph)
    kinds: dict[Hashable, dict[str, _Match]] = {}
    for found in _proved(rule, reader, proofs):
        if not isinstance(found, Refusal):
            kinds.setdefault(rule.level.likeness(reader, found), {})[found.root] = found
    for matches in kinds.values():
        yield Step(rule.name, tuple(matches), rule.level.rebuild(graph, matches))
    if len(kinds) > 1:
        everything = {root: found for each in kinds.values() for root, found in each.items()}
        yield Step(rule.name, tuple(everything), rule.level.rebuild(graph, everything))


def _proved(
    rule: Rule[_Graph, _Reader, _Match], reader: _Reader, proofs: Proofs
) -> Iterator[_Match | Refusal]:
    """What the rule finds; what numbers do not prove is refused."""
    while True:
        try:
            for found in rule.find(reader):
                yield found if isinstance(found, Refusal) else _judged(rule, reader, found, proofs)
            return
        except Exception as error:
            yield _fault(rule, reader.nodes.place, error)
        if not reader.nodes.leave():
            return


def _judged(
    rule: Rule[_Graph, _Reader, _Match], reader: _Reader, found: _Match, proofs: Proofs
) -> _Match | Refusal:
    """A match, or why numbers show that it is none."""
    part = (rule.level.name, rule.level.likeness(reader, found))
    if part not in proofs:
        proofs[part] = rule.level.difference(reader, found)
    reason = proofs[part]
    return found if reason is None else Refusal(found.what, found.root, reason)


def _rebuilt(
    rule: Rule[_Graph, Any, _Match], graph: _Graph, matches: dict[str, _Match]
) -> Rewritten[_Graph, _Match]:
    """The graph with replacements, but for those whose making raises."""
    try:
        return Rewritten(rule.level.rebuild(graph, matches), matches, ())
    except Exception as error:
        fault = _fault(rule, next(iter(matches)), error)
    if len(matches) == 1:
        return Rewritten(graph, {}, (fault,))
    alone = [_rebuilt(rule, graph, {root: found}) for root, found in matches.items()]
    kept = {root: found for each in alone for root, found in each.accepted.items()}
    faults = tuple(fault for each in alone for fault in each.refusals)
    if not kept or not faults:
        return Rewritten(graph, {}, faults or (fault,))
    done = _rebuilt(rule, graph, kept)
    return Rewritten(done.graph, done.accepted, (*faults, *done.refusals))


def _fault(rule: Rule[Any, Any, Any], place: str, error: Exception) -> Fault:
    """What a rule that raised is told as; where the memory is full, nobody is at fault."""
    if isinstance(error, MemoryError):
        raise error
    found = Fault(f"pass {rule.name}", place, told(error))
    MISTAKES.debug("%s", found, exc_info=error)
    return found
