"""The stages of the loop engine that take Gemmini's loops."""

from celosia.hw.gemmini.loops.loop_ws import LoopWs
from celosia.isa.config import AcceleratorConfig

__all__ = ["gemmini_stages"]


def gemmini_stages(config: AcceleratorConfig) -> dict[str, LoopWs]:
    """The loop stages for Gemmini's programs that `config` has, by name and in order."""
    return {"loop_ws": LoopWs(config)} if config.loop_ws else {}
