"""A product to its schedule: how it is cut, in which order, and where its pieces stand.

Every combination of a few block heights, loop orders and residencies is costed with
`celosia.sw.matmul.cost`; the cheapest that fits wins.  Guarantees a schedule that `place_tiles` can
place, for every legal configuration and every M, N, K.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.matmul import MatMul, verify
from celosia.sw.ir.schedule import MatMulSchedule, Pool
from celosia.sw.matmul.cost import predict_matmul
from celosia.sw.matmul.cuts import Cut, cuts

__all__ = ["candidates", "schedule_matmul"]

Order = Literal["rows", "cols"]


def schedule_matmul(
    problem: MatMul, config: AcceleratorConfig, timing: MemoryTiming | None = None
) -> MatMulSchedule:
    """The cheapest schedule for `problem`, by `celosia.sw.matmul.cost.predict_matmul`.

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
    for cut in cuts(problem, config):
        for outer in _orders(cut):
            if schedule := _longest_kept(problem, config, cut, outer):
                yield from _finish(problem, cut, schedule)


def _orders(cut: Cut) -> tuple[Order, ...]:
    return ("rows", "cols") if len(cut.rows) > 1 and len(cut.cols) > 1 else ("rows",)


def _longest_kept(
    problem: MatMul, config: AcceleratorConfig, cut: Cut, outer: Order
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
    problem: MatMul, config: AcceleratorConfig, cut: Cut, choice: tuple[Order, bool, bool]
) -> MatMulSchedule | None:
    """The schedule with this order and residency of A and B, or None if that does not fit."""
    outer, keep_a, keep_b = choice
    lookahead = max(1, config.load_queue * 3 // 4)
    need_a, need_b = _slots(cut, *choice)
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


def _slots(cut: Cut, outer: Order, keep_a: bool, keep_b: bool) -> tuple[int, int]:
    """Slots without which the pieces of A and B cannot be kept, or move on."""
    blocks_a = 1 if outer == "rows" else len(cut.rows)
    kept_a = blocks_a * cut.a_pieces + 1  # The very first piece may be split.
    kept_b = sum(map(cut.b_pieces, cut.cols))
    if outer == "cols":
        kept_b = cut.b_pieces(max(cut.cols)) + 1  # One for the next block of columns.
    return kept_a if keep_a else 2, kept_b if keep_b else 2


def _places(config: AcceleratorConfig, cut: Cut) -> int:
    """Blocks that one half of the accumulator holds.

    More than one lets small blocks wait for stores less often; but stores that lag behind then meet
    products that add to the same half, and are kept from reading it.
    """
    block_rows = max(cut.rows) * max(cut.cols)
    return config.accumulator_rows // 2 // block_rows if cut.k_tiles == 1 else 1


def _split_pools(config: AcceleratorConfig, cut: Cut) -> tuple[Pool, Pool]:
    """A in one half of the banks, B in the other: a tile of B may meet any tile of A."""
    half, bank = config.scratchpad_banks // 2, config.scratchpad_bank_rows
    banks = tuple(range(config.scratchpad_banks))
    return (
        Pool(banks=banks[:half], base=0, slot_rows=cut.a_rows, slots_per_bank=bank // cut.a_rows),
        Pool(banks=banks[half:], base=0, slot_rows=cut.b_rows, slots_per_bank=bank // cut.b_rows),
    )


def _shared_pools(
    config: AcceleratorConfig, cut: Cut, a_slots: int, b_slots: int
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


def _finish(problem: MatMul, cut: Cut, schedule: MatMulSchedule) -> Iterator[MatMulSchedule]:
    """`schedule` with the ways in which its first and its last block may be done."""
    firsts = [cut.a_tiles]
    shared = len(cut.rows) > 1  # Other row blocks may meet the same pieces of B.
    if cut.a_tiles > 1 and not problem.b_transposed and (cut.b_k_tiles == 1 or not shared):
        firsts.append(1)
    for first in firsts:
        for tail in dict.fromkeys(((), _tail(cut, schedule))):
            yield replace(schedule, first_a_tiles=first, tail=tail)


def _tail(cut: Cut, schedule: MatMulSchedule) -> tuple[int, ...]:
    """Parts of the last block, each drained while the next is computed; () if they do not fit.

    Without sums over K there is nothing to gain: products that only write let stores read.
    """
    k_tiles, tiles = cut.k_tiles, cut.cols[-1]
    fits_a = schedule.keep_a or schedule.a_pool.slots > cut.a_pieces
    fits_b = schedule.keep_b or schedule.b_pool.slots >= cut.b_pieces(tiles)
    if k_tiles == 1 or not fits_a or not fits_b:
        return ()
    parts = [1]
    while sum(parts) < tiles:
        parts.append(min(max(1, parts[-1] * (k_tiles - 1)), tiles - sum(parts)))
    return tuple(reversed(parts)) if len(parts) > 1 else ()
