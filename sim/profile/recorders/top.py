"""The accelerator's top with ports for a log of its operations: those of `LogPins` in `log.h`."""

from collections.abc import Iterator, Mapping
from typing import Any

from amaranth.hdl import Cat, Const, Elaboratable, Fragment, Module, Mux, Signal, Value

from celosia.hw.execute.rows import RowStreamer
from celosia.hw.issue.issue import Issue
from celosia.hw.issue.queues import queues
from celosia.hw.load.path import LoadPath
from celosia.hw.memory.accumulator import Accumulator
from celosia.hw.memory.scratchpad import Scratchpad
from celosia.hw.observe.counters import Counters
from celosia.hw.store.path import StorePath
from celosia.isa.config import AcceleratorConfig
from celosia.sim.profile.resources import RESOURCES
from celosia.sim.verilator.harness.binding import LOG_ACTIVITIES, LOG_QUEUES, MOMENTS
from celosia.sim.verilator.observed import ObservedTop, parts

__all__ = ["LoggedTop"]

_OWNER_BITS = 8
_TAG_BITS = 32


class LoggedTop(Elaboratable):
    """`ObservedTop`, watched: it does what it does without, in the same cycles.

    All ports are one cycle behind what they show.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Of the accelerator.
    memory_seed : int or None
        Of the contents of local memories at power-on, in Amaranth's simulator.

    Members
    -------
    owners : ``Out(64)``
        A byte for each resource: 0 while nothing is busy, else its owner's number plus 1.
    activity : ``Out(64)``
        A bit for each of `activities`.
    events : ``Out(32)``
        For each of `MOMENTS`, a bit for each queue whose next operation passes it.
    tag : ``Out(32)``
        The number of the command whose operation entered a queue last.

    All ports of the top are attributes too.
    """

    def __init__(self, config: AcceleratorConfig, *, memory_seed: int | None = None):
        self.config = config
        self.top = ObservedTop(config, memory_seed=memory_seed)
        # Tracers leave out what begins with an underscore.
        self.owners = Signal(64, name="_log_owners", reset_less=True)
        self.activity = Signal(LOG_ACTIVITIES, name="_log_activity", reset_less=True)
        self.events = Signal(32, name="_log_events", reset_less=True)
        self.tag = Signal(_TAG_BITS, name="_log_tag", reset_less=True)

    def __getattr__(self, name: str) -> Any:
        """A port of the top."""
        return getattr(self.top, name)

    @property
    def log_ports(self) -> Mapping[str, Signal]:
        """The ports of the log, by their names in `LogPins`."""
        return {name: getattr(self, name) for name in ("owners", "activity", "events", "tag")}

    @property
    def ports(self) -> list[Value]:
        """All ports of the top, those of the log last."""
        return [*self.top.ports, *self.log_ports.values()]

    def elaborate(self, platform) -> Fragment:
        fragment = Fragment.get(self.top, platform)
        found: dict[type, Any] = {type(part): part for part in parts(fragment)}
        events, issue = found[Counters].events, found[Issue]
        m = Module()
        entering = issue.i.valid & issue.i.ready
        m.d.port += [
            self.owners.eq(Cat(self._owners(events))),
            self.activity.eq(Cat(self._activity(found))),
            self.events.eq(Cat(self._moments(found, entering))),
        ]
        with m.If(entering):
            m.d.port += self.tag.eq(issue.i.p.tag)
        fragment.add_subfragment(Fragment.get(m, platform), "_log")
        return fragment

    @staticmethod
    def _owners(events: Any) -> Iterator[Value]:
        for resource in RESOURCES:
            number = Value.cast(events[resource])
            value = Mux(events.busy, number + 1, 0)
            yield Cat(value, Const(0, _OWNER_BITS - len(value)))

    def _activity(self, found: Mapping[type, Any]) -> Iterator[Value]:
        config, events = self.config, found[Counters].events
        scratchpad, accumulator = found[Scratchpad], found[Accumulator]
        normalization = ("words", "words2", "transform") if config.normalization else ()
        for bank in range(config.scratchpad_banks):
            ports = (
                getattr(scratchpad, name)
                for name in ("results", "weights", "operands", "store", "load", *normalization)
            )
            yield Cat(_hits(port, bank, config.scratchpad_bank_rows) for port in ports).any()
        for bank in range(config.accumulator_banks):
            ports = (
                getattr(accumulator, name)
                for name in ("address", "store", "load", *normalization[2:])
            )
            yield Cat(_hits(port, bank, config.accumulator_bank_rows) for port in ports).any()
        yield events.read_beat
        yield events.write_beat

    def _moments(self, found: Mapping[type, Any], entering: Value) -> Iterator[Value]:
        """The bits of `events`."""
        issue, streamer = found[Issue], found[RowStreamer]
        loads, stores, finished = found[LoadPath], found[StorePath], issue.finished
        kinds = {queue.name: queue.kind for queue in queues(self.config)}
        entered = {name: entering & (issue.i.p.kind == kind) for name, kind in kinds.items()}
        passed = {
            "entered": entered,
            "started": {
                "load": loads.op.valid & loads.op.ready,
                **{
                    name: getattr(issue, name).valid & getattr(issue, name).ready
                    for name in kinds
                    if name != "load"
                },
            },
            "began": {"execute": streamer.i.valid & streamer.i.ready},
            "read": {
                "execute": streamer.reads_done,
                "store": finished.store_reads,
                **({"transform": finished.transform_reads} if "transform" in kinds else {}),
            },
            "done": {
                "load": loads.done,
                "execute": finished.execute_done,
                "store": stores.done,
                **({"transform": finished.transform_done} if "transform" in kinds else {}),
            },
        }
        names = [*kinds, *[""] * (LOG_QUEUES - len(kinds))]
        for moment in MOMENTS:
            for name in names:
                yield passed[moment].get(name, Const(0, 1))


def _hits(port: Any, bank: int, bank_rows: int) -> Value:
    """Whether `port` uses this bank in this cycle."""
    row = port.row if hasattr(port, "row") else port.p.row
    moves = port.valid & port.ready if hasattr(port, "ready") else port.valid
    high = row[(bank_rows - 1).bit_length() :]
    return moves & (high == bank)
