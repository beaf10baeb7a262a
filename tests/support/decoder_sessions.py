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
from celosia.sw.driver.device import Device

__all__ = ["shared_session"]


@cache
def _programs(
    _config: AcceleratorConfig, _model: Decoder, _context: int
) -> dict[tuple[int, int], Any]:
    """The programs that sessions have compiled so far."""
    return {}


def shared_session(
    device: Device, model: Decoder, context: int, comparison: Comparison | None = None
) -> DecoderSession:
    """A new session on `device`, compared, with the programs of those before it that are alike."""
    session = DecoderSession(device, model, context, comparison or Comparison())
    session._programs = _programs(device.config, model, context)
    return session
