"""Commands of plans on the functional model, as pairs and as loops."""

import numpy as np
import pytest
from hypothesis import given, settings

from celosia.isa.encoding import Funct
from celosia.isa.presets import resolve_config
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.ir.matmul import MatMul
from celosia.sw.pipeline import compile_plan
from celosia.sw.planning.decide import decide
from tests.sw.scheduling.products import product_graph
from tests.sw.scheduling.test_product import works


def check(config, problem, seed, *, loops):
    graph, values = product_graph(problem, seed)
    compiled = compile_plan(graph, decide(graph, config), config, loops=loops)
    run = GraphRun(FunctionalDevice(config, memory_bytes=1 << 20), compiled)
    run.load(values)
    run.run()
    np.testing.assert_array_equal(run.read("c"), interpret(graph, values)["c"])
    return compiled


@settings(max_examples=30)
@given(works())
def test_commands_of_any_product_do_what_the_graph_means(work):
    config, problem, seed = work
    check(config, problem, seed, loops=bool(seed % 2))


@pytest.mark.parametrize("preset", ["base", "small"])
def test_loops_are_fewer_commands(preset):
    config, problem = resolve_config(preset), MatMul(m=96, n=128, k=128, bias=True, scale=0.001)
    short, plain = (check(config, problem, 0, loops=loops) for loops in (True, False))
    assert len(short.program) <= len(plain.program)
    assert all(command.funct != Funct.FENCE for command in plain.program)
    if config.loop_entries:
        assert 2 * len(short.program) < len(plain.program)
