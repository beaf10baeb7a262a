"""What a product takes inside an ONNX file, beside the best of its own plans.

``python benchmarks/onnx_products.py [DRAWS]`` writes a file of one product with a bias for each of
`SHAPES`, and compiles it for preset `base` with two finishes: that of the file (int16 by a scale
for each column), and int32 sums, as ``celosia run matmul --out-type int32`` has them.  A line has
the cycles that the compiler's plan is expected to take, and those of the best of so many random
plans (`celosia.lab.tune.spaces.plan_space`), the compiler's own among them.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.mappings.samplers import Sampler, draws
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.sim.run.options.options import RunOptions
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.workloads.models.model_job import ModelJob
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.ir.graph import Graph, MatMul, Sums
from celosia.sw.planning.rules.verify import PlanError

SHAPES: Final = (
    (1, 768, 768),
    (16, 256, 256),
    (33, 100, 70),
    (49, 384, 96),
    (64, 64, 64),
    (128, 128, 64),
    (128, 64, 128),
    (128, 128, 128),
    (197, 192, 192),
    (256, 256, 32),
    (300, 48, 300),
    (128, 768, 768),
)
"""M, N and K."""


def file_graph(m: int, n: int, k: int) -> Graph:
    """The integers of an ONNX file of one product with a bias."""
    random = np.random.default_rng(0)
    weights = (random.normal(size=(k, n)) / np.sqrt(k)).astype(np.float32)
    bias = random.normal(size=n).astype(np.float32)
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)]
        for name, shape in (("x", (m, k)), ("y", (m, n)))
    )
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["xw"]),
        helper.make_node("Add", ["xw", "b"], ["y"]),
    ]
    constants = [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")]
    graph = helper.make_graph(nodes, "product", inputs, outputs, constants)
    opset = [helper.make_opsetid("", 17)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "product.onnx"
        save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
        job = RunOptions(workload=str(path)).job(silent)
        assert isinstance(job, ModelJob)
        (found,) = job.graphs
    return found


def with_sums(graph: Graph) -> Graph:
    """The same product, whose sums leave with their bias, as ``celosia run matmul`` draws one."""
    (op,) = graph.ops
    assert isinstance(op, MatMul)
    op = replace(op, finish=Sums())
    out = replace(graph.tensors[op.out.tensor], type="int32")
    return replace(graph, tensors={**graph.tensors, out.name: out}, ops=(op,))


def cycles(graph: Graph, count: int) -> tuple[int, int | None]:
    """Cycles by the compiler's plan, and by the best one; None: no other is known."""
    config, timing = PRESETS["base"], MemoryTiming()
    (op,) = graph.ops
    assert isinstance(op, MatMul)
    found = predict(graph, config, find_plan(graph, config, timing), timing).cycles
    best = None
    with suppress(PlanError, InputError):
        drawn = draws(PlanSpace(op, graph, config), Sampler.UNIFORM, Random(0))
        plans = [plan for _, plan in islice(drawn, count)]
        best = min(found, *(predict(graph, config, plan, timing).cycles for plan in plans))
    return found, best


def lines(count: int) -> Iterator[str]:
    """A line for each shape and finish."""
    for m, n, k in SHAPES:
        graph = file_graph(m, n, k)
        for finish, each in (("int16", graph), ("int32", with_sums(graph))):
            found, best = cycles(each, count)
            share = "" if best is None else f"{best:9,} {found / best:7.3f}"
            yield f"{f'{m}x{n}x{k}':12} {finish} {found:9,} {share}"


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        print(line, flush=True)
