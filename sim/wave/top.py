"""The accelerator's top with one scope more, ``wave``: what happens, in words."""

from collections.abc import Iterator, Mapping
from ctypes import sizeof
from typing import Any

from amaranth.hdl import Cat, Const, Elaboratable, Fragment, Module, ResetSignal, Signal, Value

from celosia.hw.decode.decoder import Decoder
from celosia.hw.issue.issue import Issue
from celosia.hw.issue.queues import queues
from celosia.hw.observe.counters import Counters
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.queues import QUEUES
from celosia.sim.verilator.observed import ObservedTop, parts
from celosia.sim.verilator.probe import LINES, TEXT_BYTES, WAVE_SCOPE, Probe

__all__ = ["WaveTop"]


class WaveTop(Elaboratable):
    """`ObservedTop`, watched: it does what it does without, in the same cycles.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Of the accelerator.
    memory_seed : int or None
        Of the contents of local memories at power-on, in Amaranth's simulator.

    Members
    -------
    probe : ``Out(8 * sizeof(Probe))``
        What happens in this cycle.
    text : ``In(8 * TEXT_BYTES)``
        The lines to show in this cycle, as `pack_lines` makes them.

    All ports of the top are attributes too.
    """

    def __init__(self, config: AcceleratorConfig, *, memory_seed: int | None = None):
        self.top = ObservedTop(config, memory_seed=memory_seed)
        # Tracers leave out what begins with an underscore: its parts are in the scope.
        self.probe = Signal(8 * sizeof(Probe), name="_probe")
        self.text = Signal(8 * TEXT_BYTES, name="_text")

    def __getattr__(self, name: str) -> Any:
        """A port of the top."""
        return getattr(self.top, name)

    @property
    def ports(self) -> list[Value]:
        """All ports of the top, those of the wave last."""
        return [*self.top.ports, self.probe, self.text]

    def elaborate(self, platform) -> Fragment:
        fragment = Fragment.get(self.top, platform)
        found: dict[type, Any] = {type(part): part for part in parts(fragment)}
        decoder, issue, counters = found[Decoder], found[Issue], found[Counters]
        watch, scope = Module(), Module()
        watched = _watch(decoder, issue, counters)
        watch.d.comb += self.probe.eq(Cat(_packed(watched)))
        for queue in QUEUES:
            queued, busy = Signal(8, name=f"{queue}_queued"), Signal(name=f"{queue}_busy")
            watch.d.comb += queued.eq(issue.queued[queue])
            scope.d.comb += busy.eq(queued.any())
        lines = [Signal(8 * size, name=name) for name, size in LINES.items()]
        scope.d.comb += Cat(lines).eq(self.text)
        fragment.add_subfragment(Fragment.get(watch, platform), "_watch")
        fragment.add_subfragment(Fragment.get(scope, platform), WAVE_SCOPE)
        return fragment


def _watch(decoder: Any, issue: Any, counters: Any) -> dict[str, list[Value]]:
    """What each field of `Probe` shows."""
    accepted = decoder.accepted
    heads = [getattr(issue, queue) for queue in QUEUES]
    finished = issue.finished
    starts = [head.valid & head.ready for head in heads]
    ends = {queue.name: finished[queue.end] for queue in queues(issue.config)}
    done: list[Value] = [ends.get(queue, Const(0)) for queue in QUEUES]
    command, events = decoder.commands.p, counters.events
    waits = [Value.cast(issue.waits[queue]) for queue in QUEUES]
    return {
        "event": [Cat(accepted, *starts, *done).any()],
        "accepted": [accepted],
        "funct": [command.funct],
        "reset": [ResetSignal("core")],
        "busy": [events.busy],
        "owner": [Value.cast(events.array)],
        "starts": starts,
        "done": list(map(Value.cast, done)),
        "heads": [head.valid | wait.any() for head, wait in zip(heads, waits, strict=True)],
        "waits": waits,
        "zero": [Const(0, 16)],
        "tags": [head.p.tag for head in heads],
        "rs1": [command.rs1],
        "rs2": [command.rs2],
    }


def _packed(values: Mapping[str, list[Value]]) -> Iterator[Value]:
    """The bits of `values` as they lie in a `Probe`."""
    for name, kind, *_ in Probe._fields_:
        bits = 8 * sizeof(kind) // len(values[name])
        for value in values[name]:
            yield value
            yield Const(0, bits - len(value))
