"""Says in words what limits a run, in order of cycles lost, and what would help.

Figures of what would help are of three kinds, and each says which: of the cost model, which is
asked again for other hardware; of the log; or a bound, of what cannot be saved more.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from celosia.sim.profile.losses import Loss, clocked_operators, losses
from celosia.sim.profile.resources import ARRAY, RESOURCES
from celosia.sim.profile.stopped import blamed, until_stopped
from celosia.sim.profile.whatif import (
    FOLLOWED,
    SURE,
    TRUSTED,
    WORTH,
    Change,
    asked_changes,
    model_error,
    trusted,
    what_if,
)
from celosia.sim.reporting.alike_operators import together
from celosia.sim.reporting.remedies import bounded_by_memory, remedy

__all__ = ["Explanation", "explain"]

_SHOWN: Final = 8
_ENOUGH: Final = 0.95
"""The share of all that is lost after which smaller losses are left out."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A run in words."""

    summary: str
    lines: tuple[tuple[Loss, float, str], ...]
    """What was lost, its share of all that was lost, and what would help."""
    rest: int
    """Cycles lost that no line is about."""
    changes: tuple[Change, ...] | None
    """What other hardware saves, or is expected to, the best first; None: nobody can say."""
    doubt: str = ""
    """Why nobody can say, if somebody asked."""
    predicted: int | None = None
    """What the cost model expected of the run itself."""
    stop: tuple[str, ...] = ()
    """Lines about a stopped run: why, what waited for what, and the last commands; else none."""

    @property
    def heading(self) -> str:
        """The sentence above `changes`."""
        model = "the cost model"
        if self.predicted is not None:
            model += f", which expected {self.predicted:,} cycles of this run,"
        if self.doubt:
            return f"No advice about other hardware: {model} {self.doubt}."
        if self.expects:
            return f"What would help: {model} expects"
        if self.changes:
            return "What would help, as runs on RTL have shown:"
        return (
            f"No memory and no larger accelerator helps: of those that {model} was asked about, "
            f"none saves {WORTH:.0%} of it, as it expects or as a run on RTL has shown."
        )

    @property
    def expects(self) -> bool:
        """Whether some of `changes` were not measured."""
        return any(not change.measured for change in self.changes or ())

    def __str__(self) -> str:
        return "\n".join(self._text())

    def _text(self) -> Iterator[str]:
        yield self.summary
        yield from self.stop
        if self.doubt or self.changes is not None:
            yield self.heading
        for number, change in enumerate(self.changes or (), 1):
            yield f"{number}. {change}"
        if self.expects:
            yield str(FOLLOWED)
        if self.lines:
            yield "What was lost:"
        for number, (loss, share, help_) in enumerate(self.lines, 1):
            yield (
                f"{number}. {share:.0%} of the loss, {loss.cycles:,} cycles: {loss.operator}, "
                + (f"{loss.owner}. {loss.meaning}")
            )
            if help_:
                yield f"   {help_}"
        if self.rest:
            yield f"The other losses are {self.rest:,} cycles together."


def explain(document: Mapping[str, Any]) -> Explanation:
    """The run of `document` in words; of one that was stopped, what ran until then.

    What would help is not said of a run that was stopped: it is about programs that end.
    """
    document = until_stopped(document)
    stopped = document.get("status") == "stopped"
    changes = None if stopped else what_if(document)
    document = together(document)
    found = losses(document)
    lost = sum(loss.cycles for loss in found)
    lines, told = [], 0
    parts = {part["workload"]: part for part in clocked_operators(document)}
    for loss in found[:_SHOWN]:
        if told >= _ENOUGH * lost:
            break
        told += loss.cycles
        help_ = "" if stopped else remedy(loss, parts[loss.operator], document)
        lines.append((loss, loss.cycles / lost, help_))
    return Explanation(
        summary=_summary(document, lost),
        lines=tuple(lines),
        rest=lost - told,
        predicted=document.get("predicted_cycles"),
        changes=None if changes is None else tuple(changes),
        doubt=_doubt(document) if changes is None and not stopped else "",
        stop=tuple(_stop(document)) if stopped else (),
    )


def _doubt(document: Mapping[str, Any]) -> str:
    """Why nobody can say what would help; nothing, if nobody asked."""
    if not trusted(document):
        return f"is more than {TRUSTED:.0%} from what it took"
    if not asked_changes(document):
        return ""
    return (
        f"is {model_error(document):,} cycles from what it took, and expects no change to save "
        f"{SURE} times that"
    )


def _stop(document: Mapping[str, Any]) -> Iterator[str]:
    """Why a run was stopped, and what stood in the way."""
    failed = [part for part in [*document["operators"], document] if part["failure"]]
    part = failed[0]
    failure = part["failure"]
    yield f"{part['workload']} was stopped: {failure['message']}"
    waiting = [clause for clause in failure["waiting"] if clause not in failure["message"]]
    if waiting:
        yield f"Then: {'; '.join(waiting)}."
    if last := failure["last_commands"]:
        yield "The last commands that were accepted:"
        for each in last:
            mark = "  <- to blame" if each["command"] == blamed(failure) else ""
            yield f"  {each['command']:6}: {each['text']}{mark}"


def _summary(document: Mapping[str, Any], lost: int) -> str:
    cycles = document["cycles"]
    if not cycles:
        return f"{document['workload']}: there are no cycles to explain: {_why(document)}."
    config, counters = document["config"], document["counters"]
    rows = counters.get(RESOURCES[ARRAY].owners[0].name, 0)
    ideal = document["macs"] / config["dim"] ** 2
    stopped = document.get("status") == "stopped"
    text = (
        f"{document['workload']} {'ran for' if stopped else 'took'} {cycles:,} cycles"
        f"{', and was stopped' if stopped else ''}. In {rows:,} of them ({rows / cycles:.1%}) "
        f"a row entered the array; {lost:,} ({lost / cycles:.1%}) were lost."
    )
    if document["macs"]:
        text += f" The products alone would fill {ideal:,.0f} cycles ({ideal / cycles:.1%})."
    if limit := document["limit"]:
        text += (
            f" No program can take fewer than {limit['cycles']:,} cycles on this array and memory "
            f"(bound by {limit['bound']}): {cycles - limit['cycles']:,} could be saved at most."
        )
    if share := document.get("memory_limit_share"):
        text += (
            f" Weights, keys and values of the step come in {share:.1%} of its cycles, at the "
            "memory's rate."
        )
    if bounded_by_memory(document):
        text += (
            " Memory is what limits it: only more bytes per cycle, or fewer bytes, make it "
            "shorter, whatever the array waits for."
        )
    return text


def _why(document: Mapping[str, Any]) -> str:
    if document["simulator"] == "functional":
        return "the functional model has no clock"
    return "the run was stopped before anything was counted"
