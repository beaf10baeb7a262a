"""The register of a step of TRANSFORM, between what makes steps and what reads for them."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.transform.controller import TransformStep
from celosia.isa.config import AcceleratorConfig

__all__ = ["StepRegister"]


class StepRegister(wiring.Component):
    """Holds the step that is on offer.

    Takes a step in each cycle in which it is empty or its step is accepted, and offers it in the
    next one: steps pass it at one per cycle.  So it is known which step is on offer in the next
    cycle, the same or the one that is taken, and a cycle ahead whether it has to wait.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        The shape of a step.

    Members
    -------
    i : ``In(stream.Signature(TransformStep(config)))``
        Steps.
    o : ``Out(stream.Signature(TransformStep(config)))``
        The same, a cycle later.
    """

    LATENCY = 1

    i: stream.Interface
    o: stream.Interface

    def __init__(self, config: AcceleratorConfig):
        step = TransformStep(config)
        super().__init__({
            "i": In(stream.Signature(step)),
            "o": Out(stream.Signature(step)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        step = Signal(self.o.p.shape(), reset_less=True)
        m.d.comb += [self.i.ready.eq(~self.o.valid | self.o.ready), self.o.p.eq(step)]
        with m.If(self.i.ready):
            m.d.sync += self.o.valid.eq(self.i.valid)
        with m.If(self.i.ready & self.i.valid):
            m.d.sync += step.eq(self.i.p)
        return m
