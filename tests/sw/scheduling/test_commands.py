"""Commands of plans on the functional model, as pairs and as nests."""

import numpy as np
from hypothesis import given, settings

from celosia.isa.encoding import Funct
from celosia.isa.presets import resolve_config
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.decisions.decide import decide
from tests.sw.scheduling.products import product_graph
from tests.sw.scheduling.test_product import works


def check(config, problem, seed):
    graph, values = product_graph(problem, seed)
    compiled = compile_graph(graph, config, Decide(decide(graph, config)))
    run = GraphRun(FunctionalDevice(config, memory_bytes=1 << 20), compiled)
    run.load(values)
    run.run()
    np.testing.assert_array_equal(run.read("c"), interpret(graph, values)["c"])
    return compiled


@settings(max_examples=30)
@given(works())
def test_commands_of_any_product_do_what_the_graph_means(work):
    config, problem, seed = work
    entries = config.loop_entries if seed % 2 else 0
    check(config.with_values({"loop_entries": entries}), problem, seed)


def test_nests_are_fewer_commands_and_no_other_loops_are_looked_for():
    config, problem = resolve_config("base"), MatMul(m=96, n=128, k=128, bias=True, scale=0.001)
    plain = config.with_values({"loop_entries": 0})
    short, long = (check(each, problem, 0) for each in (config, plain))
    assert 2 * len(short.program) < len(long.program)
    unwanted = {Funct.FENCE, Funct.REPEAT, Funct.STRIDE}
    assert not unwanted & {command.funct for command in (*short.program, *long.program)}
