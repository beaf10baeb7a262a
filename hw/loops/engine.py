"""The loop engine: all that stands between the source of commands and the decoder."""

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Any

from amaranth import Cat, Module, Signal, unsigned
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.lib.component import Component
from celosia.hw.lib.layouts import COMMAND
from celosia.hw.loops.products import Products
from celosia.hw.loops.repeat import Repeater
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Funct
from celosia.isa.registers.map import BODY_BITS

__all__ = ["LoopEngine"]

FENCES = 7
"""The most FENCEs that may be between the engine and their end: more than the decoder holds."""


class LoopEngine(Component):
    """The stages (`LoopStage`) in a row: `Repeater`, `Products`, then those that are given.

    All other commands pass in the same cycle.  Nothing is accepted under ``halt``.  Commands that
    leave nothing wait until all FENCEs that went out are over: entries of a ring that come after a
    FENCE must not count as completed before it does.  Without ``loop_entries`` there are only
    those that are given, or none, and every command passes.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``loop_entries``.
    more : Mapping[str, Component]
        The last stages by name; they lose no command in the cycle in which the others do.

    Members
    -------
    i : ``In(stream.Signature(COMMAND))``
        The program.
    o : ``Out(stream.Signature(COMMAND))``
        What it stands for.
    halt : ``In(1)``
        Accept no command.
    fenced : ``In(1)``
        A FENCE ends.
    busy : ``Out(1)``
        Commands are held, or are yet to be made.
    missing : ``Out(unsigned(BODY_BITS))``
        Commands of a body that have not come in.
    starved : ``Out(1)``
        Nothing goes out before more commands of a body come in.
    gained : ``Out(1)``
        A command goes out, and more will for the same one that came in.
    lost : ``Out(1)``
        A command comes in for which none goes out.
    """

    i: Annotated[stream.Interface, In(stream.Signature(COMMAND))]
    o: Annotated[stream.Interface, Out(stream.Signature(COMMAND))]
    halt: Annotated[Signal, In(1)]
    fenced: Annotated[Signal, In(1)]
    busy: Annotated[Signal, Out(1)]
    missing: Annotated[Signal, Out(unsigned(BODY_BITS))]
    starved: Annotated[Signal, Out(1)]
    gained: Annotated[Signal, Out(1)]
    lost: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig, more: Mapping[str, Any] = MappingProxyType({})):
        self.config = config
        self._more = dict(more)
        super().__init__()

    def elaborate(self, platform) -> Module:
        m = Module()
        stages: dict[str, Any] = {}
        if self.config.loop_entries:
            stages["repeater"] = repeater = Repeater(self.config)
            stages["products"] = Products(self.config)
            others = [stage.busy for stage in [stages["products"], *self._more.values()]]
            m.d.comb += [
                self.missing.eq(repeater.missing),
                self.starved.eq((repeater.missing != 0) & ~Cat(others).any()),
            ]
        stages |= self._more
        for name, stage in stages.items():
            m.submodules[name] = stage
        if stages:
            self._chain(m, list(stages.values()))
        else:
            connect(m, flipped(self.i), flipped(self.o))
        return m

    def _chain(self, m: Module, stages: list[Any]) -> None:
        first, last, fenced = stages[0], stages[-1], self._fenced(m)
        own, more = stages[: len(stages) - len(self._more)], self._more.values()
        # One command is lost at a time.
        losing = Cat(stage.lost for stage in own).any()
        m.d.comb += [
            first.i.p.eq(self.i.p),
            first.i.valid.eq(self.i.valid & ~self.halt),
            self.i.ready.eq(first.i.ready & ~self.halt),
            *(stage.fenced.eq(fenced) for stage in own),
            *(stage.fenced.eq(fenced | losing) for stage in more),
        ]
        for stage, follower in pairwise(stages):
            connect(m, stage.o, follower.i)
        connect(m, last.o, flipped(self.o))
        for name in ("busy", "gained", "lost"):
            m.d.comb += getattr(self, name).eq(Cat(getattr(stage, name) for stage in stages).any())

    def _fenced(self, m: Module) -> Signal:
        """Whether a FENCE that went out is not over."""
        fences, fenced, sent = Signal(range(FENCES + 1)), Signal(), Signal()
        m.d.comb += [
            fenced.eq(fences != 0),
            sent.eq(self.o.valid & self.o.ready & (self.o.p.funct == Funct.FENCE)),
        ]
        with m.If(sent & ~self.fenced):
            m.d.sync += fences.eq(fences + 1)
        with m.Elif(self.fenced & ~sent):
            m.d.sync += fences.eq(fences - 1)
        return fenced
