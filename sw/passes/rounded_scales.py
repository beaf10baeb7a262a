"""How far the scales that an accelerator takes are from those that were asked for."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.numerics import round_scales
from celosia.isa.numerics.float32 import MANTISSA_BITS
from celosia.sw.ir.graph import Graph
from celosia.sw.passes.short_scales import scales_of

__all__ = ["RoundedScales", "added", "rounded_scales"]


@dataclass(frozen=True, kw_only=True)
class RoundedScales:
    """How scales have changed."""

    bits: int
    """Bits of the mantissas that the accelerator takes."""
    scales: int
    """Scales of the graph, those of columns one by one."""
    rounded: int
    """The scales that were longer."""
    largest: float
    """The largest change of any, as a share of it."""


def added(parts: Iterable[RoundedScales | None]) -> RoundedScales | None:
    """What was rounded in all `parts` for one accelerator; None if there is nothing to say."""
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return RoundedScales(
        bits=known[0].bits,
        scales=sum(part.scales for part in known),
        rounded=sum(part.rounded for part in known),
        largest=max(part.largest for part in known),
    )


def rounded_scales(graphs: Iterable[Graph], config: AcceleratorConfig) -> RoundedScales | None:
    """What is rounded in `graphs`; None if `config` takes any float32."""
    if config.scale_bits == MANTISSA_BITS:
        return None
    found = [scales for graph in graphs for scales in scales_of(graph)]
    scales = np.concatenate([np.empty(0, np.float32), *found])
    short = round_scales(scales, config.scale_bits)
    changed = scales != short
    shares = np.abs(short[changed].astype(np.float64) / scales[changed] - 1)
    return RoundedScales(
        bits=config.scale_bits,
        scales=scales.size,
        rounded=int(changed.sum()),
        largest=float(shares.max(initial=0)),
    )
