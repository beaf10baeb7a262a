"""Random loops of LOOP_WS."""

import random

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS

__all__ = ["loop"]

_BOUNDS, _ADDRESSES_AB, _ADDRESSES_DC, _STRIDES_AB, _STRIDES_DC = LOOP_WS_CONFIGS
_SKIPS = ("skip_a", "skip_b", "skip_c", "skip_d", "skip_products")


def loop(rng: random.Random, config: AcceleratorConfig, **run: int) -> list[Command]:
    """A LOOP_WS with the flags of `run`, and some of the commands that configure it before.

    Nothing is promised about its addresses.
    """
    blocks = config.max_blocks
    i, j, k = (rng.choice([1, 2, 3, 3, blocks, blocks + 1]) for _ in range(3))
    while i * j * k > 300:
        i, j, k = (rng.randint(1, 3) for _ in range(3))
    pads = {f"pad_{name}": rng.randrange(config.dim) for name in "ijk"}

    def address() -> int:
        return rng.choice([0, rng.getrandbits(64), 0x8000_0000])

    flags = {o.name: rng.randrange(1 << o.bits) for o in LOOP_WS.operands}
    flags |= {"residual": rng.random() < 0.2}
    flags |= {f"{name}_half": rng.choice([0, 0, 0, 1, 2]) for name in "ab"}
    flags |= {name: rng.random() < 0.1 for name in _SKIPS}
    flags |= {"activation": rng.choice([0, 0, 1, 2, 4, 7])} | run
    commands = [
        _BOUNDS.encode(i=i, j=j, k=rng.choice([k, k, k, 0]), **pads),
        _ADDRESSES_AB.encode(a=address(), b=address()),
        _ADDRESSES_DC.encode(d=address(), c=address()),
        _STRIDES_AB.encode(a_stride=rng.getrandbits(20), b_stride=rng.getrandbits(64)),
        _STRIDES_DC.encode(d_stride=rng.getrandbits(20), c_stride=rng.getrandbits(32)),
    ]
    return [*rng.sample(commands, rng.choice([5, 5, 2])), LOOP_WS.encode(**flags)]
