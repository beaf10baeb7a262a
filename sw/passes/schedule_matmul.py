"""A product to its schedule: how it is cut, in which order, and where its pieces stand.

Every combination of a few block heights, loop orders and residencies is costed with
`celosia.sw.cost`; the cheapest that fits wins.  Guarantees a schedule that `place_tiles` can
place, for every legal configuration and every M, N, K.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from celosia.isa.config import AcceleratorConfig
from celosia.sw.cost import predict_matmul
from celosia.sw.driver.device import MemoryTiming
from celosia.sw.ir.matmul import MatMul, verify
from celosia.sw.ir.schedule import MatMulSchedule, Pool

__all__ = ["candidates", "schedule_matmul"]

MAX_ROWS: Final = 4096
"""Rows of the tallest block: pitches are 16-bit fields."""
PIECE_BYTES: Final = 1024
"""A piece of B is at least that large, if it can: fewer and longer loads."""
HEIGHTS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
"""Block heights that are tried, in units of ``dim`` rows."""


def schedule_matmul(
    problem: MatMul, config: AcceleratorConfig, timing: MemoryTiming | None = None
) -> MatMulSchedule:
    """The cheapest schedule for `problem`, by `celosia.sw.cost.predict_matmul`.

    Between nearly equal ones, the one with less traffic and fewer commands is preferred.
    """
    verify(problem)

    def cost(schedule: MatMulSchedule) -> float:
        prediction = predict_matmul(problem, config, schedule, timing)
        products = len(schedule.rows) * -(-problem.n // config.dim) * -(-problem.k // config.dim)
        return prediction.cycles + prediction.read_bytes / 1024 + products / 32

    return min(candidates(problem, config), key=cost)


def candidates(problem: MatMul, config: AcceleratorConfig) -> Iterator[MatMulSchedule]:
    """All schedules that are considered; at least one."""
    for cut in _cuts(problem, config):
        for outer in _orders(cut):
            if schedule := _longest_kept(problem, config, cut, outer):
                yield from _finish(problem, config, schedule)


Order = Literal["rows", "cols"]


@dataclass(frozen=True, kw_only=True)
class _Cut:
    """Sizes of blocks and pieces."""

    rows: tuple[int, ...]
    cols: tuple[int, ...]
    k_tiles: int
    a_tiles: int
    b_k_tiles: int
    b_n_tiles: int
    dim: int

    @property
    def a_rows(self) -> int:
        """Local rows of a piece of A."""
        return max(self.rows) * self.a_tiles

    @property
    def b_rows(self) -> int:
        """Local rows of a piece of B."""
        return self.b_k_tiles * self.b_n_tiles * self.dim

    @property
    def a_pieces(self) -> int:
        """Pieces of a row block of A; one more if the first is split."""
        return -(-self.k_tiles // self.a_tiles) + 1

    def b_pieces(self, tiles: int) -> int:
        """Pieces of `tiles` column tiles of B, at most."""
        groups = self.a_pieces * -(-self.a_tiles // self.b_k_tiles)
        return min(groups, self.k_tiles) * -(-tiles // self.b_n_tiles)


def _cuts(problem: MatMul, config: AcceleratorConfig) -> Iterator[_Cut]:
    """Cuts whose pieces and blocks fit the memories."""
    dim, wide = config.dim, config.max_blocks
    k_tiles, n_tiles = -(-problem.k // dim), -(-problem.n // dim)
    half, bank = config.accumulator_rows // 2, config.scratchpad_bank_rows
    seen: set[tuple[int, ...]] = set()
    for height in HEIGHTS:
        rows = _balanced(problem.m, -(-problem.m // (height * dim)))
        m = rows[0]
        if rows in seen or m > min(half, MAX_ROWS, max(bank // 2, dim)):
            continue
        seen.add(rows)
        a_tiles = _shrunk(min(wide, k_tiles), bank // 2 // m)
        across = a_tiles if problem.b_transposed else min(wide, n_tiles)
        across = _shrunk(across, bank // 2 // dim)
        down = -(-PIECE_BYTES // (across * dim * dim))
        down = min(down, n_tiles if problem.b_transposed else a_tiles)
        down = _shrunk(down, bank // 2 // (across * dim))
        b_k_tiles, b_n_tiles = (across, down) if problem.b_transposed else (down, across)
        tiles = min(n_tiles, half // m, *(_bias_tiles(n_tiles, config),) * problem.bias)
        for limit in {tiles, -(-tiles // 2)}:
            yield _Cut(
                rows=rows,
                cols=_column_blocks(n_tiles, limit, min(wide, n_tiles)),
                k_tiles=k_tiles,
                a_tiles=a_tiles,
                b_k_tiles=b_k_tiles,
                b_n_tiles=b_n_tiles,
                dim=dim,
            )


def _shrunk(size: int, limit: int) -> int:
    """`size`, halved until it is within `limit` (or 1)."""
    while size > max(limit, 1):
        size = -(-size // 2)
    return size


def _balanced(extent: int, parts: int) -> tuple[int, ...]:
    """`extent` in `parts` sizes that differ by at most one, larger ones first."""
    size, larger = divmod(extent, parts)
    return (size + 1,) * larger + (size,) * (parts - larger)


def _column_blocks(tiles: int, limit: int, unit: int) -> tuple[int, ...]:
    """`tiles` in nearly equal blocks of at most `limit`, whole `unit`s if they fit."""
    if limit < unit:
        return _balanced(tiles, -(-tiles // limit))
    units = -(-tiles // unit)
    blocks = [unit * size for size in _balanced(units, -(-units // (limit // unit)))]
    blocks[-1] -= sum(blocks) - tiles
    return tuple(blocks)


def _bias_tiles(n_tiles: int, config: AcceleratorConfig) -> int:
    """Most tiles of a block whose bias can be exchanged while another one's is in use."""
    rows = config.parameter_rows
    return rows if n_tiles <= rows else rows // 2


def _orders(cut: _Cut) -> tuple[Order, ...]:
    return ("rows", "cols") if len(cut.rows) > 1 and len(cut.cols) > 1 else ("rows",)


def _longest_kept(
    problem: MatMul, config: AcceleratorConfig, cut: _Cut, outer: Order
) -> MatMulSchedule | None:
    """The schedule that keeps as much as fits of what is needed again, B rather than A."""
    keeps_a = (True, False) if len(cut.cols) > 1 else (False,)
    keeps_b = (True, False) if len(cut.rows) > 1 else (False,)
    placed = (
        _place(problem, config, cut, (outer, keep_a, keep_b))
        for keep_b in keeps_b
        for keep_a in keeps_a
    )
    return next((schedule for schedule in placed if schedule), None)


def _place(
    problem: MatMul, config: AcceleratorConfig, cut: _Cut, choice: tuple[Order, bool, bool]
) -> MatMulSchedule | None:
    """The schedule with this order and residency of A and B, or None if that does not fit."""
    outer, keep_a, keep_b = choice
    lookahead = max(1, config.load_queue * 3 // 4)
    b_blocks = (max(cut.cols),) if outer == "cols" else cut.cols
    need_a = cut.a_pieces * (1 if outer == "rows" else len(cut.rows)) + 1 if keep_a else 2
    need_b = sum(map(cut.b_pieces, b_blocks)) + 1 if keep_b else 2
    if len(cut.rows) == 1:
        pools = _shared_pools(config, cut, need_a if keep_a else lookahead // 2, lookahead + 4)
    else:
        pools = _split_pools(config, cut)
    if pools[0].slots < need_a or pools[1].slots < need_b:
        return None
    n_tiles, widest = sum(cut.cols), max(cut.cols)
    slots = min(len(cut.cols), config.parameter_rows // widest) if problem.bias else 0
    store = config.max_accumulator_blocks if problem.scale is None else config.max_blocks
    return MatMulSchedule(
        rows=cut.rows,
        cols=cut.cols,
        outer=outer,
        a_tiles=cut.a_tiles,
        first_a_tiles=cut.a_tiles,
        b_k_tiles=cut.b_k_tiles,
        b_n_tiles=cut.b_n_tiles,
        store_tiles=min(store, n_tiles),
        keep_a=keep_a,
        keep_b=keep_b,
        a_pool=pools[0],
        b_pool=pools[1],
        places=_places(config, cut),
        bias_slots=slots,
        lookahead=lookahead,
        tail=(),
    )


def _places(config: AcceleratorConfig, cut: _Cut) -> int:
    """Blocks that one half of the accumulator holds.

    More than one lets small blocks wait for stores less often; but stores that lag behind then meet
    products that add to the same half, and are kept from reading it.
    """
    block_rows = max(cut.rows) * max(cut.cols)
    return config.accumulator_rows // 2 // block_rows if cut.k_tiles == 1 else 1


def _split_pools(config: AcceleratorConfig, cut: _Cut) -> tuple[Pool, Pool]:
    """A in one half of the banks, B in the other: a tile of B may meet any tile of A."""
    half, bank = config.scratchpad_banks // 2, config.scratchpad_bank_rows
    banks = tuple(range(config.scratchpad_banks))
    return (
        Pool(banks=banks[:half], base=0, slot_rows=cut.a_rows, slots_per_bank=bank // cut.a_rows),
        Pool(banks=banks[half:], base=0, slot_rows=cut.b_rows, slots_per_bank=bank // cut.b_rows),
    )


def _shared_pools(
    config: AcceleratorConfig, cut: _Cut, a_slots: int, b_slots: int
) -> tuple[Pool, Pool]:
    """A and B in every bank; for a single row block `place_tiles` keeps them apart in time."""
    count, bank = config.scratchpad_banks, config.scratchpad_bank_rows
    banks = tuple(range(count))
    least_b = min(-(-b_slots // count), max(1, bank // 2 // cut.b_rows))
    per_bank = max(1, min(-(-a_slots // count), (bank - least_b * cut.b_rows) // cut.a_rows))
    base = per_bank * cut.a_rows
    left = (bank - base) // cut.b_rows
    return (
        Pool(banks=banks, base=0, slot_rows=cut.a_rows, slots_per_bank=per_bank),
        Pool(banks=banks, base=base, slot_rows=cut.b_rows, slots_per_bank=left),
    )


def _finish(
    problem: MatMul, config: AcceleratorConfig, schedule: MatMulSchedule
) -> Iterator[MatMulSchedule]:
    """`schedule` with the ways in which its first and its last block may be done."""
    k_tiles = -(-problem.k // config.dim)
    splits = schedule.b_k_tiles == 1 or len(schedule.rows) == 1
    firsts = {schedule.a_tiles}
    if splits and not problem.b_transposed and k_tiles > 1:
        firsts.add(1)
    tails = {(), _tail(schedule, k_tiles)}
    for first in firsts:
        for tail in tails:
            yield replace(schedule, first_a_tiles=first, tail=tail)


def _tail(schedule: MatMulSchedule, k_tiles: int) -> tuple[int, ...]:
    """Parts of the last block, each drained while the next is computed; () if they do not fit.

    Without sums over K there is nothing to gain: products that only write let stores read.
    """
    if k_tiles == 1:
        return ()
    a_pieces = -(-k_tiles // schedule.a_tiles) + 1
    groups = a_pieces * -(-schedule.a_tiles // schedule.b_k_tiles)
    b_pieces = groups * -(-schedule.cols[-1] // schedule.b_n_tiles)
    if not schedule.keep_a and schedule.a_pool.slots < a_pieces:
        return ()
    if not schedule.keep_b and schedule.b_pool.slots < b_pieces:
        return ()
    parts = [1]
    while sum(parts) < schedule.cols[-1]:
        parts.append(min(max(1, parts[-1] * (k_tiles - 1)), schedule.cols[-1] - sum(parts)))
    return tuple(reversed(parts)) if len(parts) > 1 else ()
