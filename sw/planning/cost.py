"""Cycles and bytes of a planned product, roughly: what the search for a plan compares.

A product is a sequence of blocks of C.  Block by block, `predict_stage` follows three clocks: when
the array is done, when all loads are, and when all stores are.  A block starts when the one before
it is done and its place in the accumulator has been drained; it lasts as long as its products, or
its loads; it leaves when it is done and the stores before it are.  Bank conflicts and refused
commands are not modeled, beyond the little that loads lose when they set the pace: what a program
is expected to take is followed by `celosia.sw.timeline`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.latencies import DRAIN_LATENCY, MIN_PRODUCT_CYCLES, tile_cycles
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.graph import Graph, MatMul
from celosia.sw.planning.forms.stages import LinearStage
from celosia.sw.planning.queues import loads_ahead
from celosia.sw.planning.traffic import Move, Traffic

__all__ = ["Prediction", "predict_stage", "product_cycles"]

START_CYCLES: Final = 19
"""Cycles from the first command to the first read address and from the last byte to the first row,
together."""
SHARPNESS: Final = 25
"""How little two equally slow parties hinder each other: 2^(1/SHARPNESS) times as long."""
FOLLOWED_BLOCKS: Final = 400
"""Blocks that are followed one by one; the rest goes on at the pace of the later half of these."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What a product is expected to cost."""

    cycles: int
    array_cycles: int
    """Cycles in which the array takes rows, or weights of short products."""
    read_bytes: int


def product_cycles(op: MatMul, graph: Graph, config: AcceleratorConfig) -> int:
    """Cycles of the array for a few rows of `op` through one tile of weights."""
    weights = graph.tensors[op.b.tensor].packing
    tile = tile_cycles(config, weights, transposed=op.b_transposed)
    return max(tile, MIN_PRODUCT_CYCLES)


def predict_stage(
    op: MatMul,
    graph: Graph,
    config: AcceleratorConfig,
    stage: LinearStage,
    timing: MemoryTiming | None = None,
) -> Prediction:
    """The expected cost of the product `op` of `graph` if it is computed as `stage` says."""
    return _Model(Traffic(op, graph, config, timing or MemoryTiming(), stage)).predict()


@dataclass(frozen=True)
class _Block:
    """A block of C, or a part of the last one."""

    work: float
    """Cycles of the array."""
    load: Move
    store: float
    """Cycles in which it leaves."""


class _Model:
    def __init__(self, traffic: Traffic):
        self.traffic = traffic
        self.op, self.config, self.stage = traffic.op, traffic.config, traffic.stage
        self.timing = traffic.timing
        self.k_tiles = -(-self.op.a.cols // self.config.dim)
        self.least_work = product_cycles(self.op, traffic.graph, self.config)
        widest = max(self.stage.tiles)
        self.bias_fits = widest * len(self.stage.tiles) <= self.config.parameter_rows
        """The biases of all columns stay in the parameter memory."""
        self.known: dict[tuple[int, int, bool, bool], _Block] = {}

    def predict(self) -> Prediction:
        blocks = list(self._blocks())
        followed = blocks[:FOLLOWED_BLOCKS]
        start = self._start() + self.timing.latency
        clocks = _Clocks(self.config, self.stage, start, self.k_tiles)
        ends = [clocks.follow(block) for block in followed]
        rest = sum(block.work for block in blocks[FOLLOWED_BLOCKS:])
        if rest:
            half = len(followed) // 2
            pace = (ends[-1] - ends[half]) / sum(block.work for block in followed[half + 1 :])
            rest *= pace
        cycles = clocks.stores + rest + self.timing.latency
        return Prediction(
            cycles=round(cycles),
            array_cycles=round(sum(block.work for block in blocks)),
            read_bytes=sum(block.load.bytes for block in blocks),
        )

    def _blocks(self) -> Iterator[_Block]:
        """Blocks in order; the last one in its parts."""
        stage, dim = self.stage, self.config.dim
        rows = [(m, i == 0) for i, m in enumerate(stage.rows)]
        cols = [(n * dim, j == 0) for j, n in enumerate(stage.tiles)]
        cols[-1] = (cols[-1][0] - -self.op.out.cols % dim, cols[-1][1])
        if stage.outer == "rows":
            visits = [(m, n, new_a, new_b) for m, new_b in rows for n, new_a in cols]
        else:
            visits = [(m, n, new_a, new_b) for n, new_a in cols for m, new_b in rows]
        yield from (self._block(*visit) for visit in visits[: -1 if stage.parts else None])
        if stage.parts:
            yield from self._parts(*visits[-1])

    def _block(self, m: int, columns: int, new_a: bool, new_b: bool) -> _Block:
        """A block of C of `m` rows, and whether its A and its B come for the first time."""
        key = (m, columns, new_a, new_b)
        if key not in self.known:
            load = self._load_a(m, new_a) + self._load_b(columns, new_b)
            store = self.traffic.store_cycles(m, columns, self.stage.drain.tiles)
            self.known[key] = _Block(self._work(m, columns), load, store)
        return self.known[key]

    def _parts(self, m: int, columns: int, new_a: bool, new_b: bool) -> Iterator[_Block]:
        """The last block, part by part; each loads the pieces of B that it begins."""
        width, step = self.config.dim, self.stage.w.columns * self.config.dim
        load, start, loaded = self._load_a(m, new_a), 0, 0
        for part in self.stage.parts:
            end = min(columns, start + part * width)
            begun = min(columns, -(-end // step) * step)
            if begun > loaded:
                load += self._load_b(begun - loaded, new_b)
            store = self.traffic.store_cycles(m, end - start, self.stage.drain.tiles)
            yield _Block(self._work(m, end - start), load, store)
            load, start, loaded = Move(), end, begun

    def _work(self, m: int, columns: int) -> int:
        tiles = -(-columns // self.config.dim)
        return max(m, self.least_work) * tiles * self.k_tiles

    def _load_a(self, m: int, new: bool) -> Move:
        return self.traffic.a(m) if new or not self.stage.a.keep else Move()

    def _load_b(self, columns: int, new: bool) -> Move:
        load = Move()
        if new or not self.stage.w.keep:
            load += self.traffic.b(columns)
        if self.op.bias is not None and (new or not self.bias_fits):
            load += self.traffic.bias(columns)
        return load

    def _start(self) -> float:
        """When the first product starts, and what the array then waits for."""
        stage, traffic = self.stage, self.traffic
        weights = self.config.dim * (2 if self.op.b_transposed else 1)
        first = START_CYCLES + weights
        first += traffic.first_a_cycles(stage.a.first) + traffic.first_b_cycles()
        rest = stage.a.tiles - stage.a.first
        if rest:
            work = max(stage.rows[0], self.least_work) * stage.tiles[0]
            pieces = -(-stage.tiles[0] // stage.w.columns)
            next_b = traffic.first_b_cycles() * pieces
            first += max(0.0, traffic.first_a_cycles(rest) + next_b - work)
        return first


class _Clocks:
    """When array, loads and stores are done with the blocks so far."""

    def __init__(self, config: AcceleratorConfig, stage: LinearStage, start: float, k_tiles: int):
        self.places = 2 * _places(config, stage, k_tiles)
        self.lookahead = loads_ahead(config)
        self.shared_port = config.accumulator_banks == 1 and k_tiles > 1
        self.pipeline = 2 * config.dim + DRAIN_LATENCY
        self.k_tiles = k_tiles
        self.array = start
        self.loads = START_CYCLES + 0.0
        self.stores = 0.0
        self.drained: list[float] = []
        """When each block had left."""
        self.gate = 0.0
        """When the loads of the next block may begin."""

    def follow(self, block: _Block) -> float:
        """Take `block`; returns when the array is done with it."""
        begin = self.array
        if len(self.drained) >= self.places:
            begin = max(begin, self.drained[-self.places])
        if self.shared_port and self.drained:
            begin = max(begin, self.drained[-1] - block.work / self.k_tiles)
        self.loads = max(self.loads, self.gate) + block.load.cycles
        waiting = max(0.0, self.loads - begin)
        self.array = begin + _slower(block.work, waiting)
        if block.load.pieces:
            self.array = max(self.array, self.loads + block.work / block.load.pieces)
            ahead = min(1.0, self.lookahead / block.load.pieces)
        else:
            ahead = 1.0
        self.gate = self.array - ahead * (self.array - begin)
        finished = self.array if self.k_tiles > 1 else begin
        leaves = max(finished + self.pipeline, self.stores)
        self.stores = max(leaves + block.store, self.array + self.pipeline)
        self.drained.append(self.stores)
        return self.array


def _places(config: AcceleratorConfig, stage: LinearStage, k_tiles: int) -> int:
    """Blocks of one half of the accumulator that do not wait for each other.

    More than one lets small blocks wait for stores less often; but stores that lag behind then meet
    products that add to the same half, and are kept from reading it.
    """
    block_rows = max(stage.rows) * max(stage.tiles)
    return config.accumulator_rows // 2 // block_rows if k_tiles == 1 else 1


def _slower(one: float, other: float) -> float:
    """A little more than the larger of the two, if they are close."""
    high, low = max(one, other), min(one, other)
    return high * (1 + (low / high) ** SHARPNESS) ** (1 / SHARPNESS) if high else 0.0
