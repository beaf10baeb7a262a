"""What every part of the loop engine looks like."""

from typing import Any

from amaranth import Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.layouts import COMMAND
from celosia.hw.lib.sleep import Sleeping
from celosia.isa.config import AcceleratorConfig

__all__ = ["LoopStage", "LoopUnit"]


class LoopStage(wiring.Signature):
    """Takes commands, and puts others in the place of some of them.

    Stages are links of a chain between the source of commands and the decoder: a command that is
    none of a stage's own passes in the same cycle, also one of its own that is not well formed.  A
    stage that is not busy changes nothing, and sleeps.  Ready does not depend on the command: it is
    a pin of the chip.

    ============ =============================================================================
    i            commands
    o            what they stand for
    fenced       a FENCE that went out is not over: no command is lost now
    busy         commands are held, or are yet to be made
    gained       a command goes out, and more will for the same one that came in
    lost         a command has come in for which none goes out
    ============ =============================================================================
    """

    def __init__(self) -> None:
        super().__init__({
            "i": In(stream.Signature(COMMAND)),
            "o": Out(stream.Signature(COMMAND)),
            "fenced": In(1),
            "busy": Out(1),
            "gained": Out(1),
            "lost": Out(1),
        })


class LoopUnit(Sleeping):
    """A component that is a `LoopStage`, and perhaps has `more` members."""

    i: stream.Interface
    o: stream.Interface
    fenced: Signal
    busy: Signal
    gained: Signal
    lost: Signal

    def __init__(self, config: AcceleratorConfig, **more: Any):
        self.config = config
        super().__init__({**LoopStage().members, **more})

    def passing(self, own: Value) -> list[Any]:
        """Statements by which commands pass, but for one that is the unit's `own`."""
        return [
            self.i.ready.eq(self.o.ready),
            self.o.valid.eq(self.i.valid & ~own),
            self.o.p.eq(self.i.p),
        ]
