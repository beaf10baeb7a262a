"""Schedules of any program: what follows from dependences alone."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.fuzz.graphs.random_graph import random_case
from celosia.sw.ir.graph_interpret import interpret as interpret_graph
from celosia.sw.ir.program import Load, LoadParameters
from celosia.sw.ir.program_interpret import interpret as interpret_program
from celosia.sw.ir.program_verify import verify as verify_program
from celosia.sw.lowering.choices import Choices
from celosia.sw.lowering.graph import lower_graph
from celosia.sw.models.cases import encoder_layer_case, random_integer_encoder
from celosia.sw.reference.encoder import EncoderShape
from celosia.sw.scheduling.dependences import dependences
from celosia.sw.scheduling.schedule import schedule


def plain(program):
    return [
        replace(written.op, after=0) if isinstance(written.op, Load) else written.op
        for written in program
    ]


def check(case, config, choices):
    """The scheduled program of a graph is a legal permutation, and means what the graph means."""
    lowered = lower_graph(case.graph, config, choices)
    scheduled = schedule(lowered.ops, config)
    tensors, given = lowered.graph.tensors, {**lowered.graph.constants, **case.inputs}
    before, after = plain(lowered.ops), plain(scheduled)
    assert Counter(map(str, before)) == Counter(map(str, after))
    others = [
        [op for op in ops if not isinstance(op, Load | LoadParameters)] for ops in (before, after)
    ]
    assert others[0] == others[1]
    ops = [written.op for written in scheduled]
    verify_program(ops, config, tensors, given)
    found, want = (
        interpret_program(ops, config, tensors, given),
        interpret_graph(case.graph, case.inputs),
    )
    for name in set(found) - lowered.on_chip:
        np.testing.assert_array_equal(found[name], want[name], err_msg=name)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("choices", [Choices(), Choices(overlap=False, block_tiles=1)], ids=str)
def test_a_scheduled_program_means_the_same(seed, choices):
    check(random_case(seed), resolve_config("tiny"), choices)


def test_a_layer_means_the_same():
    model = random_integer_encoder(EncoderShape(layers=2, width=32, heads=2, hidden=64), 0)
    check(encoder_layer_case(model, [9, 5], 0), resolve_config("tiny"), Choices())


def test_what_depends_on_each_other_keeps_its_order():
    lowered = lower_graph(random_case(3, ops=8).graph, resolve_config("tiny"))
    ops = [written.op for written in lowered.ops]
    needs = dependences(ops, resolve_config("tiny"))
    scheduled = plain(schedule(lowered.ops, resolve_config("tiny")))
    keys = Counter(map(str, plain(lowered.ops)))
    places = {str(op): index for index, op in enumerate(scheduled)}
    texts = list(map(str, plain(lowered.ops)))
    for index, before in enumerate(needs):
        for each in before:
            if keys[texts[index]] == keys[texts[each]] == 1:
                assert places[texts[each]] < places[texts[index]]
