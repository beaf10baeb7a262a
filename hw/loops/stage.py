"""What every part of the loop engine looks like."""

from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.layouts import COMMAND

__all__ = ["LoopStage"]


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
