"""Cycles that this implementation takes: what estimates of a program's time build on.

No program depends on them.  `celosia.hw` derives the same numbers from its stages, and a test
compares the two.
"""

from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding.weights import WeightType

__all__ = [
    "ADDRESS_LATENCY",
    "DRAIN_LATENCY",
    "DRAIN_WORDS",
    "FACTS_CYCLES",
    "FACTS_LATENCY",
    "LOCAL_READ_LATENCY",
    "LOOP_ISSUE_CYCLES",
    "MIN_PRODUCT_CYCLES",
    "POLYNOMIAL_LATENCY",
    "ROW_LATENCY",
    "SCALER_LATENCY",
    "SQUARED_FACTS_CYCLES",
    "SQUARED_FACTS_LATENCY",
    "STEP_LATENCY",
    "STORE_LATENCY",
    "TOKEN_LATENCY",
    "TRANSFORM_WORDS",
    "lane_latency",
    "tile_cycles",
]

LOCAL_READ_LATENCY: Final = 2
"""Cycles from the request of a local row to its data."""

ADDRESS_LATENCY: Final = 3
"""Cycles from a load that leaves its queue to its first address on offer."""
ROW_LATENCY: Final = 6
"""Cycles from the last beat of a load to its last write of a local row."""
TOKEN_LATENCY: Final = 5
"""Cycles from a store that is over to the first address of a load that waits for it."""

DRAIN_LATENCY: Final = 14
"""Cycles from a local row that a store asks for to its words, scaled."""
STORE_LATENCY: Final = 17
"""Cycles from a store that leaves its queue to its first beat on offer."""
DRAIN_WORDS: Final = 64
"""Local rows that a store may have asked for and not sent."""

STEP_LATENCY: Final = 1
"""Cycles by which steps of a TRANSFORM are on offer later than they are made."""
TRANSFORM_WORDS: Final = 64
"""Local rows of results that TRANSFORMs may have promised and not written."""

MIN_PRODUCT_CYCLES: Final = 4
"""Cycles from one product to the next: two commands at two cycles each."""
LOOP_ISSUE_CYCLES: Final = 3
"""Cycles that a command of a REPEAT's body takes, without STRIDEs behind it."""


def tile_cycles(
    config: AcceleratorConfig,
    weights: WeightType = WeightType.INT8,
    *,
    transposed: bool = False,
) -> int:
    """Cycles in which a tile of weights enters the array: products follow no faster.

    ``dim``; half as many for int4 weights where the array takes their lines in pairs, but not
    through the transposer.
    """
    pairs = config.int4_pairs and weights is WeightType.INT4 and not transposed
    return config.dim // 2 if pairs else config.dim


SCALER_LATENCY: Final = 10
"""Cycles that a turn of the lanes' scaler takes."""
POLYNOMIAL_LATENCY: Final = 16
"""Cycles from the end of the first turn that an element takes to the begin of its second one."""


def lane_latency(scalings: int, parts: int = 1) -> int:
    """Cycles from a step of a TRANSFORM that enters the lanes, in `parts`, to its result.

    It takes so many turns of the scaler: 0, 1 or 2.
    """
    return 18 + SCALER_LATENCY * scalings + parts - 1


FACTS_CYCLES: Final = 16
"""Cycles from one row to the next whose sums become facts, if no squares were counted."""
SQUARED_FACTS_CYCLES: Final = 32
"""Cycles from one row to the next whose sums become facts, if squares were counted."""
FACTS_LATENCY: Final = 17
"""Cycles from the sums of a row to its facts, if no squares were counted."""
SQUARED_FACTS_LATENCY: Final = 63
"""Cycles from the sums of a row to its facts, if squares were counted."""
