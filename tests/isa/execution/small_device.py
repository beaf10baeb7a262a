"""A small functional model full of garbage, for operations against their definitions."""

import numpy as np
from hypothesis import strategies as st

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE
from celosia.sim.devices.functional import FunctionalDevice

__all__ = ["BYTES", "CONFIG", "DIM", "FLAGS", "SEEDS", "make_device", "wrapped"]

CONFIG = AcceleratorConfig(
    dim=4,
    scratchpad_kib=1,
    accumulator_kib=1,
    accumulator_banks=1,
    parameter_rows=32,
    normalization=True,
)
DIM = CONFIG.dim
BYTES = 4096
FLAGS = st.booleans()
SEEDS = st.integers(0, 9)


def make_device(seed: int, config: AcceleratorConfig = CONFIG) -> FunctionalDevice:
    """A device of `config` with garbage made from `seed` on the chip and in memory."""
    made = FunctionalDevice(config, memory_bytes=BYTES, seed=seed)
    made.write(MEMORY_BASE, np.random.default_rng(seed).bytes(BYTES))
    return made


def wrapped(x: int) -> int:
    """`x` modulo 2^32 as an int32."""
    return (x + (1 << 31)) % (1 << 32) - (1 << 31)
