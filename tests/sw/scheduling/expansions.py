"""Programs of plans in order of meaning, checked on the way."""

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph_interpret import interpret as interpret_graph
from celosia.sw.ir.program_interpret import interpret as interpret_program
from celosia.sw.ir.program_verify import verify as verify_program
from celosia.sw.lowering.choices import DEFAULT, Choices
from celosia.sw.lowering.graph import with_affines
from celosia.sw.lowering.writer import Written
from celosia.sw.models.cases import Case
from celosia.sw.planning.decide_graph import decide_graph
from celosia.sw.planning.forms.groups import on_chip
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.scheduling.expand import expand

__all__ = ["expanded", "program"]


def program(
    case: Case, config: AcceleratorConfig, choices: Choices = DEFAULT
) -> tuple[Written, ...]:
    """The program of the plan that is decided for a graph."""
    return expand(decide_graph(case.graph, config, choices), case.graph)


def expanded(case: Case, config: AcceleratorConfig, plan: Plan) -> tuple[Written, ...]:
    """The program of a legal plan, which is well formed and means what the graph means."""
    graph, found = with_affines(case.graph, config.dim), expand(plan, case.graph)
    ops, values = [written.op for written in found], {**graph.constants, **case.inputs}
    verify_program(ops, config, graph.tensors, values)
    got = interpret_program(ops, config, graph.tensors, values)
    want = interpret_graph(case.graph, case.inputs)
    for name in set(got) - on_chip(plan, case.graph):
        np.testing.assert_array_equal(got[name], want[name], err_msg=name)
    return found
