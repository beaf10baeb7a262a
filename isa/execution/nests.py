"""A PRODUCTS as one product of matrices."""

from itertools import pairwise

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import WeightType
from celosia.isa.execution.memories import Array, LocalMemories
from celosia.isa.numerics import exact_matmul, wrap32
from celosia.isa.numerics.nibbles import unpack_int4
from celosia.isa.operations.product_nest import ProductNest
from celosia.isa.state.state import ArchState

__all__ = ["execute_nest", "is_whole"]


def execute_nest(
    nest: ProductNest, state: ArchState, config: AcceleratorConfig, memories: LocalMemories
) -> ArchState | None:
    """Do all of `nest` at once; returns the state after its last command.

    None: it has to be executed command by command, and nothing is done.  That is so where tiles of
    C overlap, where a tile may leave its memory, and with strides, transposed activations or
    output-stationary products.  Sums are exact before they wrap, so that both ways leave the same.
    """
    if not is_whole(nest, state, config):
        return None
    rows = nest.rows
    lines = np.asarray(nest.a)[:, np.newaxis] + np.arange(rows)
    a = memories.scratchpad[lines].transpose(1, 0, 2).reshape(rows, -1)[:, : nest.depth]
    if state.a_unsigned:
        a = a.view(np.uint8)
    product = exact_matmul(a, _weights(nest, state, memories)[: nest.depth, : nest.cols])
    _write(nest, wrap32(product), memories)
    _keep_last_tile(nest, state, memories)
    return state.preload(nest.last_preload)


def is_whole(nest: ProductNest, state: ArchState, config: AcceleratorConfig) -> bool:
    """Whether `execute_nest` does all of `nest` at once; then each of its commands is legal."""
    return _is_plain(state) and _stands_apart(nest, state, config)


def _write(nest: ProductNest, result: Array, memories: LocalMemories) -> None:
    """Put `result`, ``rows`` x ``cols``, into the tiles of C, or add it to them."""
    dim, rows, memory = nest.dim, nest.rows, memories.accumulator
    if nest.last_cols == dim:
        lines = np.asarray(nest.c) + np.arange(rows)[:, np.newaxis]
        tiles = result.reshape(rows, len(nest.c), dim)
        memory[lines] = tiles if nest.overwrite else memory[lines] + tiles
        return
    for column, first in enumerate(nest.c):
        part = result[:, column * dim : (column + 1) * dim]
        target = memory[first : first + rows, : part.shape[1]]
        target[...] = part if nest.overwrite else target + part


def _is_plain(state: ArchState) -> bool:
    strides = state.a_stride == 1 and state.c_stride == 1
    return strides and not (state.output_stationary or state.a_transpose)


def _stands_apart(nest: ProductNest, state: ArchState, config: AcceleratorConfig) -> bool:
    """Whether every tile is in its memory, and no two of C have a row in common."""
    if max(nest.a) + nest.rows > config.scratchpad_rows:
        return False
    tile_rows = WeightType(state.b_type).tile_rows(nest.dim)
    if max(map(max, nest.w)) + tile_rows > config.scratchpad_rows:
        return False
    tiles = sorted(nest.c)
    apart = all(behind - before >= nest.rows for before, behind in pairwise(tiles))
    return apart and tiles[-1] + nest.rows <= config.accumulator_rows


def _weights(nest: ProductNest, state: ArchState, memories: LocalMemories) -> Array:
    """The tiles of weights as one matrix, whole tiles along K and of columns."""
    tiles = _lines(np.asarray(nest.w), nest, state, memories)  # Columns, K, lines, elements.
    order = (1, 3, 0, 2) if state.b_transpose else (1, 2, 0, 3)
    return tiles.transpose(order).reshape(len(nest.a) * nest.dim, -1)


def _lines(first: Array, nest: ProductNest, state: ArchState, memories: LocalMemories) -> Array:
    """The ``dim`` lines of the tiles of weights that begin in these rows: two more axes."""
    kind = WeightType(state.b_type)
    rows = memories.scratchpad[first[..., np.newaxis] + np.arange(kind.tile_rows(nest.dim))]
    return unpack_int4(rows) if kind is WeightType.INT4 else rows


def _keep_last_tile(nest: ProductNest, state: ArchState, memories: LocalMemories) -> None:
    """Leave in the array what its last product left there."""
    tile = _lines(np.asarray(nest.w[-1][-1]), nest, state, memories)
    kept = (tile.T if state.b_transpose else tile)[: nest.last_depth, : nest.last_cols]
    memories.weights = np.zeros((nest.dim, nest.dim), np.int8)
    memories.weights[: nest.last_depth, : nest.last_cols] = kept
