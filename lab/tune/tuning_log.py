"""The tuning log: what was tried for one workload, and with it the best plans that are known."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from math import isfinite
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Record, Sparse
from celosia.isa.foreign_file import MIB, parse_json
from celosia.isa.memory import MemoryTiming
from celosia.lab.sweep.version import whole_version
from celosia.lab.tune.features import FEATURES
from celosia.lab.tune.spaces.choice_space import ChoiceSpace
from celosia.lab.tune.spaces.graph_space import plan_space
from celosia.sim.run.options.plan_sources import OtherGraphError, PlanSource
from celosia.sim.support.cache import digest
from celosia.sim.support.line_file import append_line, open_lines_of
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.graphs.alike import likeness
from celosia.sw.planning.forms.plan import Plan

__all__ = [
    "DEFAULT",
    "SOURCE",
    "Entry",
    "LogHead",
    "TuningLog",
    "best_known",
    "model_key",
    "open_log",
    "read_log",
    "tuning_key",
]

DEFAULT: Final = "default"
"""The strategy of the compiler itself, whose plan is a trial without choices."""

_MOST_BYTES: Final = 256 * MIB
_KINDS: Final = {
    "key": str,
    "oracle": str,
    "strategy": str,
    "trial": int,
    "chosen": dict,
    "graph": str,
}
"""What keys hold that nobody looks at again."""


@dataclass(frozen=True)
class LogHead(Record):
    """The first line of a tuning log; each further line is a trial."""

    key: str
    """A digest of what is searched: graph, configuration, memory and the sources of Celosia; of
    several graphs, of how often each runs."""
    oracle: str
    """What says how many cycles a trial takes."""
    version: Sparse[str | None] = None
    """The sources of Celosia, as `key` has them: of others, nothing is learned."""
    schema: Literal["celosia.tune/1"] = "celosia.tune/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""


@dataclass(frozen=True, kw_only=True)
class Entry(Record):
    """A trial as a line of the log: cycles, or why the plan was refused."""

    strategy: str
    """The strategy that chose the plan."""
    trial: int
    """The trial's place among those of its strategy."""
    chosen: Mapping[str, Any] = field(hash=False)
    """What the plan chooses, by name; nothing if it is the compiler's own."""
    graph: Sparse[str | None] = None
    """The key of the graph that the plan is of; not there in a log of one graph."""
    cycles: Sparse[int | None] = None
    """The cycles that the plan takes; not there if it is refused."""
    refused: Sparse[str | None] = None
    """The rule that the plan breaks; not there if it is legal."""
    predicted: Sparse[int | None] = None
    """The cycles by the timeline of a plan that ran on the RTL."""
    features: Sparse[list[float] | None] = field(default=None, hash=False)
    """What a learned model saw of it: `celosia.lab.tune.features.FEATURES`, in this order."""


class TuningLog:
    """The trials so far; `add` writes one before it returns."""

    def __init__(self, file: BinaryIO, entries: list[Entry]):
        self._file = file
        self.entries = entries

    def add(self, entry: Entry) -> None:
        """Keep one more trial."""
        append_line(self._file, entry.document())
        self.entries.append(entry)

    def of(self, strategy: str, graph: str | None = None) -> list[Entry]:
        """The trials of one strategy for one graph, in the order in which they began."""
        mine = [each for each in self.part(graph) if each.strategy == strategy]
        return sorted(mine, key=lambda entry: entry.trial)

    def part(self, graph: str | None) -> list[Entry]:
        """The trials for one graph, in the order in which they ended."""
        return [entry for entry in self.entries if entry.graph == graph]


def tuning_key(graph: Graph, config: AcceleratorConfig, timing: MemoryTiming) -> str:
    """A digest of a graph, a configuration, a memory and the sources of Celosia.

    Graphs that differ in names and numbers alone have the same: a plan takes the same time.
    """
    ends = graph.constants.keys(), graph.inputs, graph.outputs
    like = repr(likeness(graph.tensors, graph.ops, *ends))
    return digest([like, repr(config), repr(timing), whole_version()])


def model_key(runs: Mapping[str, int]) -> str:
    """A digest of the graphs of a model: of the key of each, and how often it runs."""
    return digest([f"{key} {count}" for key, count in runs.items()])


def read_log(path: Path) -> tuple[LogHead, list[Entry]]:
    """The head and the trials of a log.  Raises `InputError` for a damaged one."""
    head, entries = _parsed(read_text(path, _MOST_BYTES), path)
    _check_numbers(entries, path)
    return head, entries


@contextmanager
def open_log(
    path: Path, key: str, oracle: str, spaces: Mapping[str | None, ChoiceSpace]
) -> Iterator[TuningLog]:
    """The log in a file, for one process at a time; made if it is not there.

    `spaces` has the plans of each graph of a model by its key; of one graph alone, by None.
    Raises `InputError` if the file is of another workload, configuration, memory, version or
    oracle, or was cut short, and `OutputError` if it cannot be written.  Neither changes it.
    """
    with open_lines_of(path, f"{path}: another search writes there") as file:
        text = file.read().decode(errors="replace")
        if not text:
            append_line(file, LogHead(key, oracle, whole_version()).document())
            yield TuningLog(file, [])
            return
        head, entries = _parsed(text, path)
        _check_key(head, {head.key}, key, path)
        _check_numbers(entries, path)
        known = [*_fitted(enumerate(entries, 2), spaces, path)]
        if head.oracle != oracle:
            raise InputError(f"{path}: its cycles are by {head.oracle}, not by {oracle}")
        yield TuningLog(file, known)


def best_known(
    path: str, graph: Graph, config: AcceleratorConfig, timing: MemoryTiming
) -> Plan | None:
    """The plan of the fewest cycles in a log of `graph`, or of a model with a graph like it.

    None: it is the compiler's own.  Raises `OtherGraphError` for a log of other graphs, and
    `InputError` for what else `open_log` refuses, and for what the accelerator cannot do.
    """
    place, key = Path(path), tuning_key(graph, config, timing)
    head, entries = read_log(place)
    _check_key(head, {head.key, *(entry.graph for entry in entries)}, key, place)
    part = None if head.key == key else key
    try:
        space = plan_space(graph, config)
    except ValueError as error:
        raise InputError(f"--tuned {path}: {error}") from None
    mine = [(line, entry) for line, entry in enumerate(entries, 2) if entry.graph == part]
    fitted = _fitted(mine, {part: space}, place)
    tried = ((entry.cycles, entry) for entry in fitted if entry.cycles is not None)
    _, best = min(tried, key=itemgetter(0), default=(0, None))
    if best is None or best.strategy == DEFAULT:
        return None
    return space.plan(best.chosen)


def _check_key(head: LogHead, keys: Collection[str | None], key: str, path: Path) -> None:
    """Raise `OtherGraphError` for a log that has something else under its `keys`."""
    if key not in keys:
        raise OtherGraphError(
            f"{path}: a log of another workload, configuration, memory or version of Celosia: its "
            f"key is {head.key}, here it is {key}"
        )


def _fitted(
    lines: Iterable[tuple[int, Entry]], spaces: Mapping[str | None, ChoiceSpace], path: Path
) -> Iterator[Entry]:
    """The trials, by the names of these spaces.  Raises `InputError` unless all are of them."""
    for line, entry in lines:
        if (space := spaces.get(entry.graph)) is None:
            raise InputError(f"{path}: line {line}: {entry.graph} is no graph of this workload")
        if entry.strategy == DEFAULT:
            yield entry
            continue
        choices, chosen = space.choices, _renamed(entry.chosen, [*space.choices])
        if chosen is None or not all(chosen[name] in choices[name] for name in choices):
            raise InputError(f"{path}: line {line}: {entry.chosen} is no plan of this workload")
        yield replace(entry, chosen=chosen)


def _renamed(chosen: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any] | None:
    """What was chosen by these `names`; None: it is not of them.

    Graphs that are alike have the same decisions in the same order, whose names may begin with
    those of other operators.
    """
    if [*map(_end, chosen)] == [*map(_end, names)]:
        return dict(zip(names, chosen.values(), strict=True))
    return chosen if chosen.keys() == {*names} else None


def _end(name: str) -> str:
    """The name of a decision without its operator's."""
    return name.rpartition(".")[2]


def _check_numbers(entries: Sequence[Entry], path: Path) -> None:
    """Raise `InputError` unless cycles and features are numbers that a trial may have."""
    for number, entry in enumerate(entries, 2):
        place = f"{path}: line {number}"
        for name, cycles in (("cycles", entry.cycles), ("predicted", entry.predicted)):
            if cycles is not None and (type(cycles) is not int or cycles < 1):
                raise InputError(f"{place}: {name}: {cycles!r} is not a whole number of 1 or more")
        features = entry.features
        if features is None:
            continue
        numbers = isinstance(features, list) and all(
            type(each) in (int, float) and isfinite(each) for each in features
        )
        if not numbers or len(features) != len(FEATURES):
            raise InputError(f"{place}: features: they are not {len(FEATURES)} numbers")


def _read(record: type[Any], line: Mapping[str, Any]) -> Any:
    """A line as a record.  Raises `TypeError` for one that has too little, or something else."""
    names = {each.name for each in fields(record)}
    for name in names & _KINDS.keys() & line.keys():
        if not isinstance(line[name], _KINDS[name]):
            raise TypeError(name)
    return record(**{name: line[name] for name in names & line.keys()})


def _parsed(text: str, path: Path) -> tuple[LogHead, list[Entry]]:
    """The head and the trials of a log."""
    *whole, rest = text.split("\n")
    lines = []
    for number, line in enumerate(whole, 1):
        try:
            lines.append(_read(Entry if lines else LogHead, parse_json(line)))
        except (ValueError, AttributeError, TypeError):
            raise InputError(f"{path}: line {number}: not a line of a tuning log") from None
    if rest or not whole:
        place = f"{path}: line {len(whole) + 1}"
        if not rest.startswith("{"):
            raise InputError(f"{place}: not a line of a tuning log")
        raise InputError(f"{place} was cut short; remove it to go on from there")
    head, *entries = lines
    if head.schema != LogHead.schema:
        raise InputError(f"{path}: its schema is {head.schema}, not {LogHead.schema}")
    return head, entries


SOURCE: Final = PlanSource(lambda _path: None, best_known)
"""Plans for `--tuned LOG`."""
