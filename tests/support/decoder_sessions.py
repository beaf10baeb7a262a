"""Sessions of decoders whose programs are compiled once for all tests of a process.

Programs depend on the accelerator, the model and the length of the context alone, and compiling
them is most of what a session of a small model takes.
"""

from functools import cache
from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.sw.decoding.comparison import Comparison
from celosia.sw.decoding.decoder import Decoder
from celosia.sw.decoding.session import DecoderSession
from celosia.sw.decoding.steps import Steps
from celosia.sw.driver.device import Device

__all__ = ["share_programs", "shared_session"]


@cache
def _programs(
    _config: AcceleratorConfig, _model: Decoder, _context: int, _slots: int
) -> tuple[dict[Any, Any], list[int], dict[int, Any]]:
    """The programs that sessions have compiled so far, and where they have what they share."""
    return {}, [], {}


def shared_session(
    device: Device, model: Decoder, context: int, comparison: Comparison | None = None
) -> DecoderSession:
    """A new session on `device`, compared, with the programs of those before it that are alike."""
    session = DecoderSession(device, model, context, comparison or Comparison())
    share_programs(session.steps)
    return session


def share_programs(steps: Steps) -> None:
    """Have the programs of the steps before that are alike."""
    key = steps.device.config, steps.model, steps.context, steps.slots
    steps._programs, steps._bases, steps._kept = _programs(*key)
