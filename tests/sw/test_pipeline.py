"""From a problem to results: every level means the same product."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.ir.matmul import MatMul, MatMulAddresses
from celosia.sw.ir.schedule import MatMulSchedule
from celosia.sw.ir.tile import interpret
from celosia.sw.lowering.finish import FinishedSums
from celosia.sw.matmul.schedule_matmul import candidates, schedule_matmul
from celosia.sw.models.cases import attention_case
from celosia.sw.pipeline import compile_graph, compile_matmul, tile_matmul
from celosia.sw.reference.matmul import matmul_reference
from tests.support.levels import CONFIGS
from tests.support.norms import normalized_sum
from tests.sw.strategies import configs, operands, problems

GUARD = 0x5A
LEAST = CONFIGS["least"]
"""Half its accumulator holds but a part of rows of 90 columns."""


def check(problem: MatMul, config: AcceleratorConfig, schedule: MatMulSchedule) -> None:
    """Tiles and commands give the result of the definition, and write nothing else."""
    a, b, bias = operands(problem)
    upright = b.T if problem.b_transposed else b
    sums = matmul_reference(a, upright, bias)
    tensors = {"a": a, "b": b} | ({} if bias is None else {"bias": bias[np.newaxis]})
    assert np.array_equal(interpret(tile_matmul(problem, config, schedule), tensors), sums)

    expected = matmul_reference(a, upright, bias, scale=problem.scale, relu=problem.relu)
    device = FunctionalDevice(config, memory_bytes=1 << 20)
    where = {"a": MEMORY_BASE + 1, "b": MEMORY_BASE + 0x20003}
    c, d = MEMORY_BASE + 0x40005, MEMORY_BASE + 0xC0000
    device.write(where["a"], a.tobytes())
    device.write(where["b"], b.tobytes())
    device.write(c - 8, bytes([GUARD]) * (expected.nbytes + 16))
    if bias is not None:
        device.write(d, bias.tobytes())
    addresses = MatMulAddresses(**where, c=c, bias=None if bias is None else d)
    device.run(compile_matmul(problem, addresses, config, schedule=schedule).commands)
    assert device.read(c, expected.nbytes) == expected.tobytes()
    assert device.read(c - 8, 8) == device.read(c + expected.nbytes, 8) == bytes([GUARD]) * 8


@given(st.data())
def test_the_chosen_schedule_gives_the_right_result(data):
    config = data.draw(configs())
    problem = data.draw(problems(min(config.dim, 16)))
    check(problem, config, schedule_matmul(problem, config))


@given(st.data())
def test_every_candidate_gives_the_right_result(data):
    config = data.draw(configs())
    problem = data.draw(problems(min(config.dim, 8)))
    check(problem, config, data.draw(st.sampled_from(list(candidates(problem, config)))))


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (64, 64, 64), (100, 300, 200), (3, 200, 1), (1, 5, 300)]
)
@pytest.mark.parametrize("transposed", [False, True])
def test_larger_products_on_base(shape, transposed):
    m, n, k = shape
    problem = MatMul(m=m, n=n, k=k, b_transposed=transposed, bias=True, scale=0.001)
    check(problem, PRESETS["base"], schedule_matmul(problem, PRESETS["base"]))


def test_a_bias_too_large_for_the_parameter_memory_is_exchanged():
    config = PRESETS["tiny"].with_values({"parameter_rows": 8})
    problem = MatMul(m=9, n=100, k=5, bias=True)
    schedule = schedule_matmul(problem, config)
    assert schedule.bias_slots < len(schedule.cols)
    check(problem, config, schedule)


def test_bias_and_its_address_belong_together():
    addresses = MatMulAddresses(a=MEMORY_BASE, b=MEMORY_BASE, c=MEMORY_BASE)
    with pytest.raises(ValueError, match="bias: the problem says True, its address is None"):
        compile_matmul(MatMul(m=1, n=1, k=1, bias=True), addresses, PRESETS["tiny"])


def test_an_impossible_problem_is_refused():
    addresses = MatMulAddresses(a=MEMORY_BASE, b=MEMORY_BASE, c=MEMORY_BASE)
    problem = replace(MatMul(m=1, n=1, k=1), relu=True)
    with pytest.raises(ValueError, match="relu: an int32 result is not activated"):
        compile_matmul(problem, addresses, PRESETS["tiny"])


def test_a_graph_that_is_not_well_formed_is_refused():
    graph = attention_case(2, 5, 4, seed=1).graph
    with pytest.raises(ValueError, match="another operator has this name"):
        compile_graph(replace(graph, ops=(*graph.ops, graph.ops[0])), PRESETS["tiny"])


def test_a_program_that_is_not_well_formed_is_a_mistake_of_the_compiler(monkeypatch):
    """Here, moments begin anew with each block of columns."""
    part = FinishedSums.part

    def wrong(self, dim, col, cols):
        return replace(part(self, dim, col, cols), first=col == 0)

    graph = normalized_sum(5, 90).graph
    compile_graph(graph, LEAST)
    monkeypatch.setattr(FinishedSums, "part", wrong)
    with pytest.raises(AssertionError, match=r"sum: lowered to a wrong program: op .*: starts"):
        compile_graph(graph, LEAST)
