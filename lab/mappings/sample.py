"""A sample of a product's plans: cycles, bytes and energy of each, by the model of nests."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.lab.mappings.nests import Nests
from celosia.lab.mappings.samplers import Sampler, draws, enumerated
from celosia.lab.tune.spaces.choice_space import Choice
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.lab.tune.work import product_space
from celosia.sim.export.silicon.energy.table import EnergyTable, load_table
from celosia.sim.run.options.options import RunOptions
from celosia.sw.planning.forms.plan import only_stage
from celosia.sw.planning.forms.stages import LinearStage

__all__ = ["BATCH", "COLUMNS", "Batch", "Drawn", "Request", "draw_batch", "joined"]

BATCH: Final = 2000
"""Plans that are drawn and followed at once."""
COLUMNS: Final = ("cycles", "bytes", "cycles x bytes", "energy x delay")
"""What is known of each plan."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """The plans to draw; may be sent to another process."""

    options: RunOptions
    """The product, and the accelerator's memory."""
    config: AcceleratorConfig
    sampler: Sampler
    count: int
    """Legal plans to draw; of every combination, those to try."""
    seed: int = 0
    graph: str | None = None
    """Which of several products; None: there is one."""

    @cached_property
    def space(self) -> PlanSpace:
        """All plans of the product.  Raises `InputError` for other workloads, with the reason."""
        return product_space(self.options, self.config, self.graph)

    def batches(self) -> Iterator["Batch"]:
        """The request in parts that do not depend on each other."""
        for first in range(0, self.count, BATCH):
            yield Batch(self, first, min(BATCH, self.count - first))


@dataclass(frozen=True)
class Batch:
    """A part of a request."""

    request: Request
    first: int
    """Its first plan's number."""
    count: int


@dataclass(frozen=True, eq=False)
class Drawn:
    """What is known of drawn plans, in the order of their numbers."""

    chosen: tuple[Mapping[str, Choice], ...]
    values: NDArray[np.float64]
    """A row for each plan, and a column for each of `COLUMNS`."""


def draw_batch(batch: Batch) -> Drawn:
    """Draw plans, and follow each; the same whatever else is drawn, and wherever."""
    request = batch.request
    space, config = request.space, request.config
    random = Random(f"{request.sampler} {request.seed} {batch.first}")
    table, written = load_table(None), _result_bytes(space)
    nests = Nests(space.op, space.graph, config, request.options.target.timing)
    if request.sampler is Sampler.EVERY:
        plans = enumerated(space, batch.first, batch.count)
    else:
        plans = islice(draws(space, request.sampler, random), batch.count)
    chosen: list[Mapping[str, Choice]] = []
    values: list[tuple[float, ...]] = []
    for decisions, plan in plans:
        found = nests.follow(plan)
        moved = found.read_bytes + written
        energy = _picojoules(space, config, only_stage(plan), (found.read_bytes, written), table)
        chosen.append(decisions)
        values.append((found.cycles, moved, found.cycles * moved, found.cycles * energy))
    return Drawn(tuple(chosen), np.array(values).reshape(-1, len(COLUMNS)))


def joined(batches: Mapping[int, Drawn]) -> Drawn:
    """All batches, by their first plan's number, as one."""
    parts = [batches[first] for first in sorted(batches)]
    chosen = tuple(decisions for part in parts for decisions in part.chosen)
    return Drawn(chosen, np.concatenate([part.values for part in parts]))


def _result_bytes(space: PlanSpace) -> int:
    """Bytes of the product's results."""
    tensor = space.graph.tensors[space.op.out.tensor]
    return tensor.rows * tensor.cols * np.dtype(tensor.type).itemsize


def _picojoules(
    space: PlanSpace,
    config: AcceleratorConfig,
    stage: LinearStage,
    moved: tuple[int, int],
    table: EnergyTable,
) -> float:
    """What the events of a plan take that `table` knows; `moved` are bytes read and written."""
    dim, wide = config.dim, ACC_BYTES * config.dim
    k_tiles = -(-space.op.a.cols // dim)
    columns = sum(stage.tiles)
    rows = space.op.out.rows * columns * k_tiles
    weights = len(stage.rows) * columns * k_tiles * dim
    counted = {
        "mac": rows * dim * dim,
        "bus_read_byte": moved[0],
        "bus_write_byte": moved[1],
        "scratchpad_read_byte": (rows + weights) * dim,
        "scratchpad_write_byte": moved[0],
        "accumulator_read_byte": rows * wide,
        "accumulator_write_byte": rows * wide,
    }
    return sum(count * (table.entries[name].pj or 0.0) for name, count in counted.items())
