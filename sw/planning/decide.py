"""A graph of products to its plan: how each is cut, in which order, and where its pieces stand.

Cuts, order and residency are those that `celosia.sw.matmul.schedule_matmul` finds cheapest.
Guarantees a plan that `celosia.sw.planning.verify` accepts, for every graph of products that MVOUT
can finish and every legal configuration.
"""

from collections.abc import Iterator
from dataclasses import replace

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.graph import Graph, MatMul
from celosia.sw.ir.schedule import MatMulSchedule, Pool
from celosia.sw.matmul.schedule_matmul import schedule_matmul
from celosia.sw.planning.plan import (
    DrainPlan,
    PiecesOfA,
    PiecesOfB,
    Plan,
    ProductStage,
    RingPlan,
)
from celosia.sw.planning.problems import problem_of
from celosia.sw.planning.verify import PlanError, machine_of, verify_plan

__all__ = ["decide"]


def decide(graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None = None) -> Plan:
    """The plan of a verified `graph` of one product.

    Raises `PlanError` that names the rule for an operator that cannot be planned yet.
    """
    if len(graph.ops) != 1:
        raise PlanError("kind", graph.name, f"{len(graph.ops)} operators are not one product")
    (op,) = graph.ops
    if not isinstance(op, MatMul):
        raise PlanError("kind", op.name, f"{op} is no product")
    schedule = schedule_matmul(problem_of(op, graph), config, timing)
    half = config.accumulator_rows // 2
    rings = {
        **_rings(schedule, config),
        "sums": RingPlan(space="accumulator", spans=((0, half), (half, half))),
    }
    if op.bias is not None:
        rings["bias"] = RingPlan(space="parameters", spans=((0, config.parameter_rows),))
    stage = _stage(op, schedule)
    plan = Plan(graph=graph.name, machine=machine_of(config), rings=rings, stages=(stage,))
    return verify_plan(plan, graph, config)


def _stage(op: MatMul, schedule: MatMulSchedule) -> ProductStage:
    return ProductStage(
        op=op.name,
        rows=schedule.rows,
        tiles=schedule.cols,
        outer=schedule.outer,
        a=PiecesOfA(
            ring="a",
            tiles=schedule.a_tiles,
            first=schedule.first_a_tiles,
            keep=schedule.keep_a,
        ),
        b=PiecesOfB(
            ring="b",
            k_tiles=schedule.b_k_tiles,
            n_tiles=schedule.b_n_tiles,
            keep=schedule.keep_b,
        ),
        sums="sums",
        bias="bias" if op.bias is not None else "",
        drain=DrainPlan(by="mvout", tiles=schedule.store_tiles),
        tail=schedule.tail,
    )


def _rings(schedule: MatMulSchedule, config: AcceleratorConfig) -> dict[str, RingPlan]:
    """Rows for the pieces of A and B: in banks of their own, if enough of them fit there.

    A row of A is read in every cycle, and a bank serves one access in a cycle.
    """
    a, b = schedule.a_pool, schedule.b_pool
    if set(a.banks) & set(b.banks):
        count, bank = config.scratchpad_banks, config.scratchpad_bank_rows
        first = max(count // 2, -(-a.slots // (bank // a.slot_rows)))
        if first < count and (count - first) * (bank // b.slot_rows) >= min(b.slots, 2 * count):
            a = _whole(a, tuple(range(first)), bank)
            b = _whole(b, tuple(range(first, count)), bank)
    return {name: _ring(pool, config) for name, pool in (("a", a), ("b", b))}


def _whole(pool: Pool, banks: tuple[int, ...], bank_rows: int) -> Pool:
    """All of `banks` in slots of the same size."""
    return replace(pool, banks=banks, base=0, slots_per_bank=bank_rows // pool.slot_rows)


def _ring(pool: Pool, config: AcceleratorConfig) -> RingPlan:
    """The rows of a pool's slots, bank by bank."""
    return RingPlan(space="scratchpad", spans=tuple(_spans(pool, config.scratchpad_bank_rows)))


def _spans(pool: Pool, bank_rows: int) -> Iterator[tuple[int, int]]:
    for bank in pool.banks:
        yield bank * bank_rows + pool.base, pool.slots_per_bank * pool.slot_rows
