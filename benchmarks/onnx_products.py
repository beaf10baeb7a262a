"""What a product takes inside an ONNX file, beside the best of its own plans.

``python benchmarks/onnx_products.py [DRAWS [RUNS]]`` writes a file of one product with a bias for
each of `SHAPES`, and compiles it for preset `base` with two finishes: that of the file (int16 by a
scale for each column), and int32 sums, as ``celosia run matmul --out-type int32`` has them.  A line
has the cycles that the compiler's plan is expected to take, and those of the best plan of its space
(`celosia.lab.tune.spaces.plan_space`) that is found: so many are drawn, and the best two of them
improved, one decision after the other.  Then those that the compiler's plan takes on the RTL, with
all results compared, and those of the best of so many of the space that are expected to be fastest.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
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
from celosia.lab.tune.spaces.choice_space import Choice
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import measure_compiled
from celosia.sim.run.options.options import RunOptions
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.workloads.models.model_job import ModelJob
from celosia.sw.compiler.descent import descended
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.pipeline import Decide, find_plan
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph import Graph, MatMul, Sums
from celosia.sw.models.cases import Case
from celosia.sw.planning.forms.plan import Plan
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
CONFIG: Final = PRESETS["base"]
TIMING: Final = MemoryTiming()


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


def candidates(graph: Graph, count: int) -> list[Plan]:
    """Plans of the space, the one first that is expected to be fastest; none: there is no space."""
    (op,) = graph.ops
    assert isinstance(op, MatMul)
    space, known = PlanSpace(op, graph, CONFIG), dict[tuple[Choice, ...], tuple[int, Plan]]()

    def cost(chosen: Mapping[str, Choice]) -> int | None:
        key = tuple(chosen.values())
        with suppress(PlanError):
            if key not in known:
                plan = space.plan(chosen)
                known[key] = predict(graph, CONFIG, plan, TIMING).cycles, plan
            return known[key][0]
        return None

    def others(name: str, chosen: Mapping[str, Choice]) -> Iterator[Mapping[str, Choice]]:
        yield from ({**chosen, name: value} for value in space.choices[name])

    with suppress(PlanError, InputError):
        drawn = islice(draws(space, Sampler.UNIFORM, Random(0)), count)
        starts = sorted([chosen for chosen, _ in drawn], key=lambda each: cost(each) or 0)
        for start in starts[:2]:
            descended(start, [partial(others, name) for name in space.choices], cost)
    return [plan for _, plan in sorted(known.values(), key=lambda each: each[0])]


def measured(graph: Graph, plan: Plan) -> int:
    """The cycles of a plan on the RTL.  Raises `ValueError` if a result is wrong."""
    random = np.random.default_rng(0)
    inputs = {
        name: random.integers(-128, 128, graph.tensors[name].shape, np.int8)
        for name in graph.inputs
    }
    compiled = compile_graph(graph, CONFIG, Decide(plan), timing=TIMING)
    opened = partial(open_device, "verilator", CONFIG, TIMING, progress=silent)
    found = measure_compiled("product", compiled, Case(graph, inputs), opened, TIMING).whole
    if not found.right or found.cycles is None:
        raise ValueError(f"{graph.name}: {found.failure or found.mismatches}")
    return found.cycles


def line(graph: Graph, count: int, runs: int) -> Iterator[str]:
    """What is expected of the compiler's plan and of the best one, and what they take."""
    plan = find_plan(graph, CONFIG, TIMING)
    found, plans = predict(graph, CONFIG, plan, TIMING).cycles, candidates(graph, count)
    yield f"{found:9,}"
    if plans:
        best = min(found, predict(graph, CONFIG, plans[0], TIMING).cycles)
        yield f"{best:9,} {found / best:7.3f}"
    if plans and runs:
        took = measured(graph, plan)
        best = min(took, *(measured(graph, each) for each in plans[:runs]))
        yield f"{took:9,} {best:9,} {took / best:7.3f}"


def lines(count: int, runs: int) -> Iterator[str]:
    """A line for each shape and finish."""
    for m, n, k in SHAPES:
        graph = file_graph(m, n, k)
        for finish, each in (("int16", graph), ("int32", with_sums(graph))):
            yield f"{f'{m}x{n}x{k}':12} {finish} {' '.join(line(each, count, runs))}"


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    for each in lines(*given, *(20, 0)[len(given) :]):
        print(each, flush=True)
