"""What the compiler's cost model expects of the same work on other hardware."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Added, Rule
from celosia.isa.memory import MemoryTiming
from celosia.isa.registers.queues import QUEUES
from celosia.sim.profile.losses import losses
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.problems import graph_of

__all__ = [
    "CANDIDATES",
    "FOLLOWED",
    "SURE",
    "TRUSTED",
    "WORTH",
    "Change",
    "Followed",
    "Hardware",
    "asked_changes",
    "expected_changes",
    "model_error",
    "trusted",
    "what_if",
]

WORTH: Final = 0.03
"""The share of a run's cycles that advice must be expected to save: the cost model has errors, too.
"""


TRUSTED: Final = 0.05
"""The largest error of the cost model, as a share of a run's cycles, at which it may give advice.
"""


SURE: Final = 3
"""How many times the cost model's error on a run a change must be expected to save at least.

The model is as wrong about the run with the change; with less than this, advice could be wrong by
more than a third.
"""


@dataclass(frozen=True)
class Followed:
    """How wrong the cost model was where its first advice was followed on RTL."""

    runs: int
    mean: float
    """The mean size of the errors, as a share of what was saved."""
    worst: float

    def __str__(self) -> str:
        return (
            f"On {self.runs} runs whose first advice was expected, not measured, and was followed "
            f"on RTL (celosia bench advice), the cycles saved were {self.mean:.0%} from this "
            f"figure on average, {self.worst:.0%} at worst."
        )


FOLLOWED: Final = Followed(8, 0.04, 0.13)
"""What `celosia bench advice` has measured; it fails when it measures worse."""

_CAUSES: Final[Mapping[str, tuple[str, ...]]] = {
    "latency": ("wait_load_latency", "wait_load_requests", "wait_token", "wait_queue_", "drain"),
    "requests": ("wait_load_latency", "wait_load_requests", "wait_queue_", "drain"),
    "queues": ("wait_queue_", "wait_issue", "wait_command"),
}
"""What owners begin with that a change is about, by a word of it; others may be about any."""
_ARRAY: Final = "an array of"
"""Begins the only change of the array."""


@dataclass(frozen=True)
class Change:
    """Another accelerator or memory, and the cycles that it saves, or is expected to."""

    what: str
    """What else there would be."""
    saved: int
    """Cycles that are saved."""
    before: Annotated[int, Rule(minimum=1)]
    """Cycles of the run as it was: those that the model expects, or the measured ones."""
    at_most: Added[bool] = False
    """The model expects more, but the run has lost no more for such a cause."""
    measured: Added[bool] = False
    """The run has been made again with the change: no model was asked."""
    options: Added[tuple[str, ...]] = ()
    """What to add to the command line: it names everything that differs."""

    @property
    def share(self) -> float:
        """The share of the run's cycles that is saved."""
        return self.saved / self.before

    def __str__(self) -> str:
        most = "at most " if self.at_most else ""
        text = f"{self.what}: {most}{self.saved:,} cycles fewer ({self.share:.1%})"
        text += ", measured" * self.measured
        return f"{text}; add {' '.join(self.options)}" if self.options else text


@dataclass(frozen=True)
class Hardware:
    """An accelerator and its memory."""

    config: AcceleratorConfig
    timing: MemoryTiming

    @property
    def rate(self) -> int:
        """Bytes per cycle that memory and bus both carry."""
        return min(self.timing.bytes_per_cycle, self.config.bus_bytes)

    def options(self, before: "Hardware") -> tuple[str, ...]:
        """What a command line that asked for `before` needs besides."""
        words = []
        for option, name in _MEMORY_OPTIONS:
            value = getattr(self.timing, name)
            if value != getattr(before.timing, name):
                words += [option, str(value)]
        old = asdict(before.config)
        for name, value in asdict(self.config).items():
            if value != old[name]:
                words += ["--set", f"{name}={value}"]
        return tuple(words)

    def with_values(self, **values: int) -> "Hardware":
        """Another accelerator.  Raises `ConfigError` if there is none."""
        return replace(self, config=self.config.with_values(values))

    def with_memory(self, **values: int) -> "Hardware":
        """Another memory."""
        return replace(self, timing=replace(self.timing, **values))


_MEMORY_OPTIONS: Final = (
    ("--mem-latency", "latency"),
    ("--mem-bytes-per-cycle", "bytes_per_cycle"),
)
"""Options of the command line that change memory, with the field of `MemoryTiming` of each."""


def what_if(document: Mapping[str, Any]) -> list[Change] | None:
    """Changes that would help a run, the best first; None: nobody can say.

    Those of products are predicted here, with plans of their own; those of a graph, and what was
    measured, were when it ran.  A larger array comes last, for it is another accelerator.  On the
    same array no change is expected to save more than what the run has lost for causes that it is
    about.  What the cost model expects is left out where it may be the model's error.
    """
    asked = asked_changes(document)
    kept = [
        change if change.measured or _larger(change) else _possible(change, document)
        for change in asked
    ]
    kept = [change for change in kept if change.share >= WORTH]
    least = SURE * model_error(document) if trusted(document) else None
    told = [
        change
        for change in kept
        if change.measured or (least is not None and change.saved >= least)
    ]
    if not asked or (not told and (kept or least is None)):
        return None
    return sorted(told, key=lambda change: (_larger(change), -change.saved))


def model_error(document: Mapping[str, Any]) -> int:
    """Cycles by which the cost model was wrong about a run; 0 if it was not asked."""
    cycles, predicted = document.get("cycles"), document.get("predicted_cycles")
    return abs(predicted - cycles) if cycles and predicted is not None else 0


def trusted(document: Mapping[str, Any]) -> bool:
    """Whether the model has expected about as many cycles of a run as it took."""
    return model_error(document) <= TRUSTED * (document.get("cycles") or 0)


def asked_changes(document: Mapping[str, Any]) -> list[Change]:
    """All that the model was asked about, or that was measured, in no order; empty: nothing."""
    stored = [
        Change(**{**change, "options": tuple(change.get("options", ()))})
        for change in document.get("changes", ())
    ]
    return stored or _changes_of_products(document)


def expected_changes(
    hardware: Hardware, cycles: Callable[[Hardware], int], before: int | None = None
) -> Iterator[Change]:
    """What each other hardware is expected to save, by a model of the `cycles` of one.

    The model raises `ValueError` for hardware that cannot do the work.
    """
    before = cycles(hardware) if before is None else before
    for what, make in _CANDIDATES:
        try:
            other = make(hardware)
            saved = before - cycles(other)
        except ValueError:
            continue  # There is no such accelerator, or it is too small.
        yield Change(what(other), saved, before, options=other.options(hardware))


def _larger(change: Change) -> bool:
    return change.what.startswith(_ARRAY)


def _changes_of_products(document: Mapping[str, Any]) -> list[Change]:
    problems = [MatMul(**part["problem"]) for part in document["operators"] if part.get("problem")]
    if not problems or len(problems) != len(document["operators"]):
        return []
    memory = {name: document["memory"][name] for name in _TIMING_KEYS}
    memory["channel_stalls"] = tuple(memory["channel_stalls"].items())
    hardware = Hardware(AcceleratorConfig(**document["config"]), MemoryTiming(**memory))
    return list(expected_changes(hardware, lambda other: _cycles(problems, other)))


_TIMING_KEYS: Final = (
    "latency",
    "bytes_per_cycle",
    "stall_percent",
    "channel_stalls",
    "reorder",
    "ready_after_valid",
)
"""Keys of a document's memory that the cost model looks at."""


def _possible(change: Change, document: Mapping[str, Any]) -> Change:
    """`change`, which saves at most what was lost for such a cause."""
    about = next((owners for word, owners in _CAUSES.items() if word in change.what), None)
    lost = sum(
        loss.cycles for loss in losses(document) if about is None or loss.owner.startswith(about)
    )
    if change.saved <= lost:
        return change
    return replace(change, saved=lost, at_most=True)


def _cycles(problems: list[MatMul], hardware: Hardware) -> int:
    return sum(_cycles_of(problem, hardware) for problem in problems)


@lru_cache(maxsize=1024)
def _cycles_of(problem: MatMul, hardware: Hardware) -> int:
    """With the plan that is best there; a search, and a run has many products that are alike."""
    graph, config, timing = graph_of("matmul", problem), hardware.config, hardware.timing
    plan = find_plan(graph, config, timing)
    return predict(graph, config, plan, timing).cycles


def _faster(hardware: Hardware) -> Hardware:
    return hardware.with_memory(latency=max(1, hardware.timing.latency // 2))


def _wider(hardware: Hardware) -> Hardware:
    """Memory and bus both carry twice what the slower one of them does."""
    rate = 2 * hardware.rate
    memory = hardware.with_memory(bytes_per_cycle=max(hardware.timing.bytes_per_cycle, rate))
    return memory.with_values(bus_bits=max(hardware.config.bus_bits, 8 * rate))


def _doubled(*names: str) -> Callable[[Hardware], Hardware]:
    return lambda hardware: hardware.with_values(**{
        name: 2 * getattr(hardware.config, name) for name in names
    })


_CANDIDATES: Final[tuple[tuple[Callable[[Hardware], str], Callable[[Hardware], Hardware]], ...]] = (
    (lambda h: f"{h.config.scratchpad_kib} KiB of scratchpad", _doubled("scratchpad_kib")),
    (lambda h: f"{h.config.accumulator_kib} KiB of accumulator", _doubled("accumulator_kib")),
    (lambda h: f"memory of half the latency, {h.timing.latency}", _faster),
    (lambda h: f"memory and a bus of {h.rate} bytes per cycle", _wider),
    (
        lambda h: f"twice the requests in flight, {h.config.read_requests}",
        _doubled("read_requests", "write_requests"),
    ),
    (
        lambda h: "queues of twice the depth",
        _doubled(*(f"{name}_queue" for name in QUEUES)),
    ),
    (lambda h: f"{_ARRAY} {h.config.dim}x{h.config.dim}", _doubled("dim")),
)
"""The changes that the model is asked about: what each is called, and how it is made."""
CANDIDATES: Final = len(_CANDIDATES)
"""How many there are, at most: some hardware is none."""
