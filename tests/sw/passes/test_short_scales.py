"""Scales of graphs as short as accelerators take them."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.encoding import INSTRUCTIONS, KEEP_SCALE, SCALES
from celosia.isa.memory import MemoryTiming
from celosia.isa.numerics import round_scales
from celosia.isa.numerics.float32 import is_long
from celosia.isa.presets import PRESETS
from celosia.lab.fuzz.graphs.levels import check_levels
from celosia.lab.fuzz.graphs.random_graph import random_case
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.run.checks import checked_product
from celosia.sim.workloads.operands import random_operands
from celosia.sim.workloads.product_workloads import Operator
from celosia.sw.driver.expansion import expand
from celosia.sw.driver.runtime import matmul
from celosia.sw.ir.graph import Softmax, Transform
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.cases import activation_case, multiply_case, residual_case, softmax_case
from celosia.sw.passes.rounded_scales import rounded_scales
from celosia.sw.passes.short_scales import short_scale, short_scales

TINY = PRESETS["tiny"]
SHORT = TINY.with_values({"scale_bits": 8})


def test_a_graph_for_any_float32_stays_as_it_is():
    graph = random_case(0).graph
    assert short_scales(graph, TINY) is graph
    assert rounded_scales([graph], TINY) is None


@pytest.mark.parametrize(
    ("case", "fields"),
    [
        (activation_case("gelu", 2, 5, 1), ("scale", "out_scale")),
        (residual_case(2, 5, 1), ("scale", "residual_scale")),
    ],
)
def test_every_scale_of_a_finish_is_rounded(case, fields):
    (op,) = case.graph.ops
    assert isinstance(op, Transform)
    finish = replace(op.finish, **dict.fromkeys(fields, 0.1))
    graph = replace(case.graph, ops=(replace(op, finish=finish),))
    (short,) = short_scales(graph, SHORT).ops
    assert isinstance(short, Transform)
    found = [getattr(short.finish, name) for name in fields]
    assert found == [short_scale(0.1, SHORT)] * len(fields) == [0.10009765625] * len(fields)


def test_the_scale_of_a_combination_is_rounded():
    graph = multiply_case(2, 5, 1).graph
    graph = replace(graph, ops=(replace(graph.ops[0], scale=0.1),))
    assert getattr(short_scales(graph, SHORT).ops[0], "scale", None) == 0.10009765625


def with_columns() -> tuple[int, ...]:
    """Seeds of random graphs with scales of columns."""
    graphs = {seed: random_case(seed).graph for seed in range(40)}
    return tuple(
        seed
        for seed, graph in graphs.items()
        if any(tensor.type == "float32" for tensor in graph.tensors.values())
    )


def test_scales_of_columns_are_rounded_and_counted():
    graph = random_case(with_columns()[0]).graph
    (name, *_) = [name for name, value in graph.constants.items() if value.dtype == np.float32]
    scales = graph.constants[name]
    assert (short_scales(graph, SHORT).constants[name] == round_scales(scales, 8)).all()
    found = rounded_scales([graph], SHORT)
    assert found is not None
    assert found.scales >= found.rounded >= scales.size // 2
    assert 0 < found.largest <= 2**-8
    again = rounded_scales([short_scales(graph, SHORT)], SHORT)
    assert again is not None
    assert (again.scales, again.rounded, again.largest) == (found.scales, 0, 0)


@pytest.mark.parametrize("seed", [*range(8), *with_columns()[:4]])
def test_a_compiled_graph_has_short_scales_alone(seed):
    compiled = check_levels(random_case(seed), SHORT)
    for _, command in expand(compiled.program, SHORT):
        for instruction, names in SCALES.items():
            if instruction.matches(command):
                scales = [instruction.decode(command)[name] for name in names]
                assert scales == [KEEP_SCALE] or not any(is_long(each, 8) for each in scales)


def test_every_float_of_a_command_is_a_scale():
    floats = {
        (name, field.name)
        for name, instruction in INSTRUCTIONS.items()
        for field in instruction.operands
        if field.kind.name == "FLOAT"
    }
    known = {(instruction.name, name) for instruction, names in SCALES.items() for name in names}
    assert floats - known == {("config_ex", "acc_scale")}  # It is ignored.


def test_a_product_alone_has_a_short_scale_too():
    a = np.arange(12, dtype=np.int8).reshape(3, 4)
    device = FunctionalDevice(SHORT)
    found, _ = matmul(device, a, a.T.copy(), scale=0.1)
    assert (found == np.rint(np.float32(a.astype(int) @ a.T) * np.float32(0.10009765625))).all()


def test_a_product_is_compared_with_the_scale_that_the_device_takes():
    problem = MatMul(m=16, n=16, k=16, scale=0.004)
    operator = Operator("product", random_operands(problem, 1))
    measured, _ = checked_product(FunctionalDevice(SHORT), operator, MemoryTiming())
    assert (measured.mismatches, measured.problem) == (0, replace(problem, scale=0.003997802734375))
    kept, _ = checked_product(FunctionalDevice(TINY), operator, MemoryTiming())
    assert (kept.mismatches, kept.problem) == (0, problem)


def test_a_scale_of_scores_stays_positive():
    graph = softmax_case(2, 4, 1).graph
    (op,) = graph.ops
    assert isinstance(op, Transform)
    tiny = replace(op, finish=Softmax(1e-45))
    case = replace(softmax_case(2, 4, 1), graph=replace(graph, ops=(tiny,)))
    check_levels(case, SHORT)
