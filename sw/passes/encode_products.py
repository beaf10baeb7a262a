"""Products on local rows as commands: one by one, or as a nest of them."""

from functools import lru_cache
from typing import Final

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import COMPUTE_PRELOADED, CONFIG_PRODUCTS, PRELOAD, PRODUCTS, Command
from celosia.isa.encoding.loops import LANE_BITS
from celosia.sw.ir.program import Products

__all__ = ["encode_nest", "encode_product", "knows_nests"]

_ROW: Final = (1 << LANE_BITS) - 1
"""The last row that PRODUCTS can name."""
_KNOWN: Final = 1 << 14
"""Nests whose commands are kept."""


def knows_nests(config: AcceleratorConfig) -> bool:
    """Whether there is a command for nests of products in local memories as large."""
    rows = max(config.scratchpad_rows, config.accumulator_rows)
    return config.loop_entries > 0 and rows <= _ROW + 1


@lru_cache(_KNOWN)
def encode_nest(op: Products) -> tuple[Command, Command]:
    """The configuration of `op`, and its command; many of a program's nests are equal."""
    names = ("a_k", "a_piece", "w_k", "w_piece", "w_column", "c_column")
    return (
        CONFIG_PRODUCTS.encode(**{name: getattr(op, name) & _ROW for name in names}),
        PRODUCTS.encode(
            a=op.a,
            w=op.w,
            c=op.c,
            overwrite=not op.accumulate,
            rows=op.rows,
            k=op.k,
            pieces=op.pieces,
            columns=op.columns,
            last_depth=op.last_depth,
            last_cols=op.last_cols,
        ),
    )


def encode_product(op: Products) -> tuple[Command, Command]:
    """The commands of one product: a nest of no other."""
    depth, cols = op.last_depth, op.last_cols
    c = LocalAddress(row=op.c, accumulator=True, accumulate=op.accumulate)
    return (
        PRELOAD.encode(
            b=op.w, b_cols=cols, b_rows=depth, c=c.encode(), c_cols=cols, c_rows=op.rows
        ),
        COMPUTE_PRELOADED.encode(a=op.a, a_cols=depth, a_rows=op.rows, d=GARBAGE),
    )
