"""The loop engine: all that stands between the source of commands and the decoder."""

from itertools import pairwise
from typing import Any

from amaranth import Cat, Module, Signal, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.frontend.layouts import COMMAND
from celosia.hw.gemmini.loops.loop_ws import LoopWs
from celosia.hw.loops.products import Products
from celosia.hw.loops.repeat import Repeater
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Funct
from celosia.isa.registers import BODY_BITS

__all__ = ["LoopEngine"]

FENCES = 7
"""That may be between this and their end, at most: more than the decoder holds."""


class LoopEngine(wiring.Component):
    """The stages (`LoopStage`) in a row: `Repeater`, `Products`, then `LoopWs`.

    All other commands pass in the same cycle.  Nothing is accepted under ``halt``.  Commands that
    leave nothing wait until all FENCEs that went out are over: entries of a ring that come after a
    FENCE must not count as completed before it does.  Without ``loop_entries`` there are only
    those of ``loop_ws``, or none, and every command passes.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``loop_entries`` and ``loop_ws``.

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

    i: stream.Interface
    o: stream.Interface
    halt: Signal
    fenced: Signal
    busy: Signal
    missing: Signal
    starved: Signal
    gained: Signal
    lost: Signal

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "i": In(stream.Signature(COMMAND)),
            "o": Out(stream.Signature(COMMAND)),
            "halt": In(1),
            "fenced": In(1),
            "busy": Out(1),
            "missing": Out(unsigned(BODY_BITS)),
            "starved": Out(1),
            "gained": Out(1),
            "lost": Out(1),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        config = self.config
        if not config.loop_entries and not config.loop_ws:
            connect(m, flipped(self.i), flipped(self.o))
            return m
        if not config.loop_entries:
            m.submodules.loop_ws = loop_ws = LoopWs(config)
            self._chain(m, [loop_ws])
            return m
        m.submodules.repeater = repeater = Repeater(config)
        m.submodules.products = products = Products(config)
        stages, working = [repeater, products], products.busy
        if config.loop_ws:
            m.submodules.loop_ws = loop_ws = LoopWs(config)
            stages.append(loop_ws)
            working |= loop_ws.busy
        self._chain(m, stages)
        m.d.comb += [
            self.missing.eq(repeater.missing),
            self.starved.eq((repeater.missing != 0) & ~working),
        ]
        return m

    def _chain(self, m: Module, stages: list[Any]) -> None:
        first, last, fenced = stages[0], stages[-1], self._fenced(m)
        m.d.comb += [
            first.i.p.eq(self.i.p),
            first.i.valid.eq(self.i.valid & ~self.halt),
            self.i.ready.eq(first.i.ready & ~self.halt),
            *(stage.fenced.eq(fenced) for stage in stages),
        ]
        if self.config.loop_ws and len(stages) > 1:
            # One command is lost at a time.
            others = Cat(stage.lost for stage in stages[:-1]).any()
            m.d.comb += last.fenced.eq(fenced | others)
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
