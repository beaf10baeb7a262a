"""Blocks of tile operations to a tile program: local rows for all pieces, and loads in place.

Assumes blocks in the order of `order_matmul`.  Guarantees that every piece is loaded before its
first use and intact until its last one; loads stand as early in the program as their slots and the
lookahead allow, because the queues run a program in order.  Configuration is left to `lower_tiles`.
"""

import heapq
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.matmul import MatMul
from celosia.sw.ir.schedule import MatMulSchedule, Pool
from celosia.sw.ir.tile import Block, Load, Multiply, Op, Piece, Store, TileProgram, verify

__all__ = ["place_tiles"]

MAX_LEAD: Final = 128
"""Steps that a load is issued before its first use, at most."""

Key = tuple[Piece, int]
"""A piece, and the block that it is loaded for (-1: for all of them)."""


def place_tiles(
    problem: MatMul, config: AcceleratorConfig, schedule: MatMulSchedule, blocks: Sequence[Block]
) -> TileProgram:
    """The tile program of `blocks`, verified.

    Raises `ValueError` if the pools of `schedule` are too small for its order.
    """
    steps = [op for block in blocks for op in block]
    uses = _uses(schedule, blocks)
    loads = list(_Placer(config, schedule, steps).place(uses))
    program = TileProgram(
        problem,
        config,
        tuple(_interleave(steps, loads, schedule.lookahead)),
        {
            "a": schedule.row_pitch,
            "b": (schedule.b_n_tiles if problem.b_transposed else schedule.b_k_tiles) * config.dim,
            "c": schedule.row_pitch,
        },
    )
    return verify(program)


@dataclass(frozen=True, slots=True)
class _Use:
    """The steps from the first to the last that needs a piece."""

    key: Key
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _PlacedLoad:
    load: Load
    first: int
    """The step that needs it."""
    free: int
    """The last step that needs what is in its slot, or another copy of its piece, before; or -1."""


def _uses(schedule: MatMulSchedule, blocks: Sequence[Block]) -> list[_Use]:
    """What must be loaded, in the order of need."""
    keep = {
        "a": schedule.keep_a,
        "b": schedule.keep_b,
        "bias": schedule.outer == "cols" or schedule.bias_slots >= len(schedule.cols),
    }
    first: dict[Key, int] = {}
    last: dict[Key, int] = {}
    step = 0
    for number, block in enumerate(blocks):
        for op in block:
            for piece in _pieces(op):
                key = (piece, -1 if keep[piece.tensor] else number)
                first.setdefault(key, step)
                last[key] = step
            step += 1
    return [_Use(key, first[key], last[key]) for key in first]


def _pieces(op: Multiply | Store) -> tuple[Piece, ...]:
    if isinstance(op, Multiply):
        return op.a, op.b
    return (op.bias,) if op.bias else ()


class _Slots:
    """The slots of a pool: free ones by bank, longest free first, and when the others get free."""

    def __init__(self, pool: Pool, bank_rows: int):
        self.free = {
            bank: deque(
                (-1, bank * bank_rows + pool.base + slot * pool.slot_rows)
                for slot in range(pool.slots_per_bank)
            )
            for bank in pool.banks
        }
        self.taken: list[tuple[int, int, int]] = []

    def release(self, step: int) -> None:
        """Free every slot whose last use is before `step`."""
        while self.taken and self.taken[0][0] < step:
            last, bank, row = heapq.heappop(self.taken)
            self.free[bank].append((last, row))

    def take(self, last: int, penalties: dict[int, int]) -> tuple[int, int, int]:
        """Bank, row and time of freeing of a slot that is then used until step `last`."""
        candidates = [
            (penalties.get(bank, 0), free[0][0], bank) for bank, free in self.free.items() if free
        ]
        if not candidates:
            raise ValueError("schedule: a pool has too few slots for the order of its pieces")
        bank = min(candidates)[2]
        since, row = self.free[bank].popleft()
        heapq.heappush(self.taken, (last, bank, row))
        return bank, row, since


class _Placer:
    """Chooses slots, load by load in the order of need."""

    def __init__(
        self, config: AcceleratorConfig, schedule: MatMulSchedule, steps: list[Multiply | Store]
    ):
        rows = config.scratchpad_bank_rows
        bias_pool = Pool(
            banks=(0,), base=0, slot_rows=max(schedule.cols), slots_per_bank=schedule.bias_slots
        )
        self.slots = {
            "a": _Slots(schedule.a_pool, rows),
            "b": _Slots(schedule.b_pool, rows),
            "bias": _Slots(bias_pool, 0),
        }
        self.steps = steps
        self.banks: dict[Piece, int] = {}
        """Where each piece was put last."""
        self.recent: deque[int] = deque(maxlen=2)
        self.last: dict[Piece, int] = {}
        """The last step that needs the latest copy of each piece."""

    def place(self, uses: list[_Use]) -> Iterator[_PlacedLoad]:
        """A load for each use."""
        for use in uses:
            piece = use.key[0]
            slots = self.slots[piece.tensor]
            slots.release(use.first)
            bank, row, since = slots.take(use.last, self._penalties(piece, use.first))
            if piece.tensor != "bias":
                self.banks[piece] = bank
                self.recent.append(bank)
            yield _PlacedLoad(Load(piece, row), use.first, max(since, self.last.get(piece, -1)))
            self.last[piece] = use.last

    def _penalties(self, piece: Piece, step: int) -> dict[int, int]:
        """How bad each bank is for `piece`, first needed at `step`.

        A bank serves one access per cycle.  While the array reads a row of A in every cycle, W and
        loads should find theirs elsewhere; a load that arrives just in time is written while the
        one or two before it are read.
        """
        penalties: dict[int, int] = {}
        op = self.steps[step]
        if piece.tensor == "bias" or not isinstance(op, Multiply):
            return penalties
        partner = op.b if piece.tensor == "a" else op.a
        before = next((s for s in self.steps[step - 1 :: -1] if isinstance(s, Multiply)), op)
        weighted = [(self.banks.get(partner), 8), (self.banks.get(before.a), 4)]
        weighted += zip(self.recent, (1, 2)[-len(self.recent) :], strict=False)
        for bank, weight in weighted:
            if bank is not None:
                penalties[bank] = penalties.get(bank, 0) + weight
        return penalties


def _interleave(
    steps: list[Multiply | Store], loads: list[_PlacedLoad], lookahead: int
) -> Iterator[Op]:
    """Steps and loads in program order: each load in the order of need, as early as it may.

    Not too early, though: a load cannot write to a bank that rows of A stream from, and while it
    waits, at most a thousand commands may be queued behind it.
    """
    needed = issued = 0
    for step, op in enumerate(steps):
        while needed < len(loads) and loads[needed].first <= step:
            needed += 1
        while issued < min(len(loads), needed + lookahead):
            load = loads[issued]
            if load.free >= step or load.first > step + MAX_LEAD:
                break
            yield load.load
            issued += 1
        assert issued >= needed, "a load waits for a slot that its own user keeps"
        yield op
