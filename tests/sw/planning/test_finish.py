"""How the sums of a product alone leave."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.ir.graph import Activation, Requantize, Tensor, View
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.choices import DEFAULT
from celosia.sw.planning.decisions.decide import decide
from celosia.sw.planning.forms.plan import only_stage
from celosia.sw.planning.rules.verify import PlanError
from tests.sw.scheduling.products import product_graph
from tests.sw.scheduling.test_product import check

BASE = resolve_config("base")
SIZES = {"base": (70, 90, 50), "tiny": (18, 23, 13)}
"""M, N and K by preset: as many tiles of each array."""
M, N, K = SIZES["base"]


def finished(finish, out="int16", m=M, n=N, k=K):
    """A product with this finish, and its operands."""
    graph, values = product_graph(MatMul(m=m, n=n, k=k, bias=True, scale=0.01))
    (op,) = graph.ops
    tensors = {**graph.tensors, "c": replace(graph.tensors["c"], type=out)}
    if isinstance(finish.scale, View):
        tensors["scales"] = Tensor("scales", "float32", 1, n)
        values = {**values, "scales": np.linspace(0.001, 0.01, n, dtype=np.float32)[None]}
        graph = replace(graph, inputs=(*graph.inputs, "scales"))
    return replace(graph, ops=(replace(op, finish=finish),), tensors=tensors), values


def columns(n=N):
    return View("scales", 0, 0, 1, n)


COLUMNS = columns()
FINISHES = {
    "int16": lambda n: Requantize(columns(n)),
    "uint8": lambda _: Requantize(0.01, 3),
    "int8": lambda n: Activation("gelu", columns(n), 0.001),
}
"""A finish of a product of so many columns, by the type of its results."""


# Each type and each array; all pairs of them at night.
@pytest.mark.parametrize(
    ("out", "preset"),
    [
        *(("int16", "tiny"), ("uint8", "base"), ("int8", "base")),
        *(
            pytest.param(*pair, marks=pytest.mark.nightly)
            for pair in (("int16", "base"), ("uint8", "tiny"), ("int8", "tiny"))
        ),
    ],
)
def test_transforms_finish_what_stores_cannot(preset, out):
    sizes = SIZES[preset]
    config, (graph, values) = resolve_config(preset), finished(FINISHES[out](sizes[1]), out, *sizes)
    for plan in (decide(graph, config), find_plan(graph, config)):
        assert only_stage(plan).drain.by == "transform"
        check(plan, graph, values, config)


def test_stores_finish_int8_by_one_scale():
    graph, _ = finished(Requantize(0.01), "int8")
    assert only_stage(decide(graph, BASE)).drain.by == "mvout"


def test_a_product_that_transforms_finish_is_cut_like_any_other():
    graph, _ = finished(Requantize(COLUMNS))
    found = predict(graph, BASE, find_plan(graph, BASE)).cycles
    assert found < 0.9 * predict(graph, BASE, DEFAULT).cycles


def test_results_of_a_product_are_not_in_the_way_of_its_operands():
    graph, _ = finished(Requantize(COLUMNS), m=16, k=768)
    plan = decide(graph, BASE)
    results = plan.rings["results"]
    assert not any(results.meets(plan.rings[name]) for name in ("a", "b"))


def test_without_lanes_no_transform_finishes_anything():
    graph, _ = finished(Requantize(COLUMNS))
    with pytest.raises(PlanError, match=r"^drain: stage product: transform is not how"):
        decide(graph, resolve_config("base", ("normalization=false",)))
