"""A graph of products to its plan: how each is cut, in which order, and where its pieces stand.

Every plan of `celosia.sw.planning.search` is costed with `celosia.sw.planning.cost`; the cheapest
wins.  Guarantees a plan that `celosia.sw.planning.rules.verify` accepts, for every graph of
products that MVOUT can finish and every legal configuration.
"""

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.graph import Graph, MatMul
from celosia.sw.planning.cost import predict_stage
from celosia.sw.planning.forms.plan import Plan, only_stage
from celosia.sw.planning.rules.verify import PlanError, verify_plan
from celosia.sw.planning.search import product_plans

__all__ = ["decide", "only_product", "ranked"]


def decide(graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None = None) -> Plan:
    """The plan of a verified `graph` of one product.  Raises `PlanError` as `ranked` does."""
    return verify_plan(ranked(graph, config, timing)[0], graph, config)


def ranked(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None = None
) -> list[Plan]:
    """All plans of a verified `graph` of one product that are compared, the cheapest ones first.

    Between nearly equal ones, the one with less traffic and fewer commands is preferred.
    Raises `PlanError` that names the rule for an operator that cannot be planned yet.
    """
    op, dim = only_product(graph), config.dim

    def cost(plan: Plan) -> float:
        stage = only_stage(plan)
        prediction = predict_stage(op, graph, config, stage, timing)
        products = len(stage.rows) * -(-op.out.cols // dim) * -(-op.a.cols // dim)
        return prediction.cycles + prediction.read_bytes / 1024 + products / 32

    return sorted(product_plans(op, graph, config), key=cost)


def only_product(graph: Graph) -> MatMul:
    """The only operator of `graph`.  Raises `PlanError` if it is no product, or not alone."""
    if len(graph.ops) != 1:
        raise PlanError("kind", graph.name, f"{len(graph.ops)} operators are not one product")
    (op,) = graph.ops
    if not isinstance(op, MatMul):
        raise PlanError("kind", op.name, f"{op} is no product")
    return op
