"""What `celosia verilog` can be asked for."""

from enum import StrEnum

__all__ = ["Memories", "TopChoice"]


class TopChoice(StrEnum):
    """The top levels."""

    CORE = "core"
    AXI = "axi"


class Memories(StrEnum):
    """What becomes of memories."""

    INFERRED = "inferred"
    BLACKBOX = "blackbox"
