"""Programs of plans in order of meaning, checked on the way."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph_interpret import interpret as interpret_graph
from celosia.sw.ir.program import Load, Op, Products, Written
from celosia.sw.ir.program_interpret import interpret as interpret_program
from celosia.sw.ir.program_verify import verify as verify_program
from celosia.sw.models.cases import Case
from celosia.sw.passes.affines import with_affines
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.groups import on_chip
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.spills import with_spills
from celosia.sw.scheduling.dependences import dependences
from celosia.sw.scheduling.expansion.expand import expand

__all__ = ["check_order", "check_scheduled", "expanded", "program", "without_waits"]

Schedule = Callable[[tuple[Written, ...], AcceleratorConfig], tuple[Written, ...]]


def program(
    case: Case, config: AcceleratorConfig, choices: Choices = DEFAULT
) -> tuple[Written, ...]:
    """The program of the plan that is decided for a graph."""
    return expand(decide_graph(case.graph, config, choices), case.graph)


def check_scheduled(
    case: Case, config: AcceleratorConfig, choices: Choices, schedule: Schedule
) -> None:
    """The scheduled program of a graph is a legal permutation, and means what the graph means.

    `schedule` makes a program from the one in order of meaning, on `config`; products keep their
    order.
    """
    plan = decide_graph(case.graph, config, choices)
    before = expand(plan, case.graph)
    after = schedule(before, config)
    texts = [[str(op) for op in without_waits(program)] for program in (before, after)]
    assert Counter(texts[0]) == Counter(texts[1])
    products = [[w.op for w in p if isinstance(w.op, Products)] for p in (before, after)]
    assert products[0] == products[1]
    check_meaning(case, config, plan, after)


def check_order(
    case: Case, config: AcceleratorConfig, choices: Choices, schedule: Schedule
) -> None:
    """What depends on each other keeps its order; of equal operations any may stand for others."""
    before = program(case, config, choices)
    plain = without_waits(before)
    places = {str(op): at for at, op in enumerate(without_waits(schedule(before, config)))}
    unique = {text for text, count in Counter(map(str, plain)).items() if count == 1}
    pairs = [
        (str(plain[each]), str(op))
        for op, needs in zip(plain, dependences(plain, config), strict=True)
        for each in needs
        if {str(plain[each]), str(op)} <= unique
    ]
    assert len(pairs) > 20
    assert all(places[one] < places[other] for one, other in pairs)


def without_waits(program: Iterable[Written]) -> list[Op]:
    """The operations of a program; no load waits."""
    return [
        replace(written.op, after=0) if isinstance(written.op, Load) else written.op
        for written in program
    ]


def expanded(case: Case, config: AcceleratorConfig, plan: Plan) -> tuple[Written, ...]:
    """The program of a legal plan, which is well formed and means what the graph means."""
    found = expand(plan, case.graph)
    check_meaning(case, config, plan, found)
    return found


def check_meaning(
    case: Case, config: AcceleratorConfig, plan: Plan, found: Iterable[Written]
) -> None:
    """A program of a plan is well formed, and means what the graph means."""
    graph = with_spills(with_affines(case.graph, config.dim), plan)
    ops, values = [written.op for written in found], {**graph.constants, **case.inputs}
    verify_program(ops, config, graph)
    got = interpret_program(ops, config, graph.tensors, values)
    want = interpret_graph(case.graph, case.inputs)
    for name in (set(got) & set(want)) - on_chip(case.graph):
        np.testing.assert_array_equal(got[name], want[name], err_msg=name)
