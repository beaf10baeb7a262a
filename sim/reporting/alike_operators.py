"""A run's report in which operators of layers that are alike are one, for people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from celosia.sim.profile.alike import blocks, kind_of_name, span_name

__all__ = ["members", "together"]

_MEMBERS: Final = "members"
_SUMMED: Final = (
    *("cycles", "macs", "mismatches", "elements_checked", "dram_read_bytes", "dram_write_bytes"),
    *("commands", "predicted_cycles", "elapsed_seconds"),
)

Document = Mapping[str, Any]


def together(document: Document) -> Document:
    """`document` with operators that repeat added up; products stay, for each has its own problem.

    An operator of which something is wrong, or which was stopped, stays on its own.
    """
    parts = document["operators"]
    shown: list[Document] = []
    for block in blocks([_kind(*each) for each in enumerate(parts)]):
        behind = block.start + block.size * block.count
        for at in range(block.start, block.start + block.size):
            alike = parts[at : behind : block.size]
            shown.append(alike[0] if len(alike) == 1 else _sum(alike, document))
    return {**document, "operators": shown}


def members(part: Document) -> frozenset[str]:
    """The names of the operators that one of `together` stands for."""
    return frozenset(part.get(_MEMBERS) or [part["workload"]])


def _kind(number: int, part: Document) -> object:
    if part["mismatches"] or part["failure"] or part["until_stopped"] or part["problem"]:
        return number
    return kind_of_name(part["workload"]), part["macs"], bool(part["counters"])


def _sum(parts: Sequence[Document], document: Document) -> Document:
    names = [part["workload"] for part in parts]
    sums = {name: _added([part[name] for part in parts]) for name in _SUMMED}
    counters: Counter[str] = Counter()
    for part in parts:
        counters.update(part["counters"])
    room = document["config"]["dim"] ** 2 * (sums["cycles"] or 0)
    least = [part["least_traffic"] for part in parts]
    return {
        **parts[0],
        **sums,
        "workload": span_name(names),
        _MEMBERS: names,
        "counters": dict(counters),
        "mac_utilization": sums["macs"] / room if sums["macs"] and room else None,
        "least_traffic": None
        if None in least
        else {way: sum(each[way] for each in least) for way in ("read", "written")},
        "limit": None,
        "shape": parts[0]["shape"] if len({part["shape"] for part in parts}) == 1 else None,
    }


def _added(values: Sequence[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
