"""A matrix product as the compiler makes it, and what it must leave in memory."""

from dataclasses import dataclass

import numpy as np

from celosia.isa.encoding import Command
from celosia.isa.memory import MEMORY_BASE
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.runtime import compile_product, describe_product
from tests.cocotb.configuration import CONFIG

__all__ = ["MEMORY_BYTES", "RING", "Product", "make_product"]

MEMORY_BYTES = 1 << 15
_OPERAND_BYTES = 1 << 14
RING = MEMORY_BASE + _OPERAND_BYTES + 40
"""Where a bench may put its ring: behind the operands, at an odd place of the bus."""


@dataclass(frozen=True)
class Product:
    """Commands, and memory before and after them."""

    commands: tuple[Command, ...]
    before: bytes
    after: bytes
    a: int
    c: int
    """Where operand and result lie."""
    wanted: np.ndarray


def make_product(m: int, n: int, k: int, seed: int = 0) -> Product:
    """An int8 product with bias and scale, of random operands."""
    rng = np.random.default_rng(seed)
    a = rng.integers(-128, 128, (m, k), dtype=np.int8)
    b = rng.integers(-128, 128, (k, n), dtype=np.int8)
    bias = rng.integers(-1000, 1000, n, dtype=np.int32)
    device = FunctionalDevice(CONFIG, memory_bytes=_OPERAND_BYTES)
    compiled = compile_product(device, describe_product(a, b, bias, scale=1 / 256))
    compiled.load(a, b, bias)
    before = device.read(MEMORY_BASE, _OPERAND_BYTES)
    compiled.run()
    after = device.read(MEMORY_BASE, _OPERAND_BYTES)
    # An independent fact besides the functional model's.
    exact = (a.astype(np.int64) @ b + bias) / 256
    wanted = np.clip(np.rint(exact), -128, 127).astype(np.int8)
    assert (compiled.result() == wanted).all()
    return Product(compiled.commands, before, after, compiled.a.address, compiled.c.address, wanted)
