"""Schedules by need: legal permutations of any program, and faster where loads set the pace."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.fuzz.graphs.random_graph import random_case
from celosia.sw.ir.graph import Requantize, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.graph_interpret import interpret as interpret_graph
from celosia.sw.ir.program import Load, Multiply, Products
from celosia.sw.ir.program_interpret import interpret as interpret_program
from celosia.sw.ir.program_verify import verify as verify_program
from celosia.sw.lowering.choices import Choices
from celosia.sw.lowering.graph import lower_graph
from celosia.sw.models.cases import (
    attention_case,
    encoder_case,
    random_integer_encoder,
)
from celosia.sw.pipeline import compile_graph, predict_graph
from celosia.sw.plan import choose
from celosia.sw.reference.encoder import EncoderShape
from celosia.sw.scheduling.by_need import schedule_by_need
from celosia.sw.scheduling.dependences import dependences

BASE, TINY = resolve_config("base"), resolve_config("tiny")
SMALL = EncoderShape(layers=2, width=32, heads=2, hidden=64)
IN_ORDER = Choices(overlap=False, schedule_loads=True)


def without_waits(program):
    return [
        replace(written.op, after=0) if isinstance(written.op, Load) else written.op
        for written in program
    ]


def products(ops):
    return [op for op in ops if isinstance(op, Multiply | Products)]


def check(case, config, choices):
    """The scheduled program of a graph is a legal permutation, and means what the graph means."""
    lowered = lower_graph(case.graph, config, choices)
    scheduled = schedule_by_need(lowered.ops, config)
    before, after = without_waits(lowered.ops), without_waits(scheduled)
    assert Counter(map(str, before)) == Counter(map(str, after))
    products = [
        [op for op in ops if isinstance(op, Multiply | Products)] for ops in (before, after)
    ]
    assert products[0] == products[1]
    tensors, given = lowered.graph.tensors, {**lowered.graph.constants, **case.inputs}
    ops = [written.op for written in scheduled]
    verify_program(ops, config, tensors, given)
    found = interpret_program(ops, config, tensors, given)
    want = interpret_graph(case.graph, case.inputs)
    for name in set(found) - lowered.on_chip:
        np.testing.assert_array_equal(found[name], want[name], err_msg=name)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    "choices",
    [IN_ORDER, Choices(), replace(IN_ORDER, block_tiles=1)],
    ids=["order of meaning", "trickled", "small blocks"],
)
def test_a_scheduled_program_means_the_same(seed, choices):
    check(random_case(seed), TINY, choices)


@pytest.mark.parametrize("lengths", [[3], [9, 5]], ids=str)
def test_an_encoder_means_the_same(lengths):
    model = random_integer_encoder(SMALL, 0)
    check(encoder_case(model, lengths, 0), TINY, IN_ORDER)


def test_attention_of_more_keys_than_fit_at_once_means_the_same():
    check(attention_case(2, 70, 8, 0), TINY, IN_ORDER)


def test_what_depends_on_each_other_keeps_its_order():
    ops = lower_graph(random_case(3, ops=8).graph, TINY, IN_ORDER).ops
    scheduled = [written.op for written in schedule_by_need(ops, TINY)]
    # Of equal operations any may stand for any other: so those alone are looked at that are unique.
    plain = without_waits(ops)
    unique = {text for text, count in Counter(map(str, plain)).items() if count == 1}
    places = {str(op): index for index, op in enumerate(scheduled)}
    pairs = [
        (str(plain[before]), str(op))
        for op, needs in zip(plain, dependences(plain, TINY), strict=True)
        for before in needs
        if {str(plain[before]), str(op)} <= unique
    ]
    assert len(pairs) > 20
    assert all(places[before] < places[after] for before, after in pairs)


def two_products(rows):
    """A product whose results are the operand of the next one."""
    builder, weights = GraphBuilder("products"), np.ones((256, 256), np.int8)
    left = builder.input(Tensor("x", "int8", rows, 256))
    for name in ("y", "z"):
        out = builder.tensor(Tensor(name, "int8", rows, 256))
        builder.matmul(name, out, left, builder.constant(f"{name}.w", weights), Requantize(0.01))
        left = out
    return builder.finish("z")


@pytest.mark.parametrize(("rows", "by_plan", "share"), [(10, True, 0.85), (30, False, 1.005)])
def test_few_rows_gain_or_lose_nothing(rows, by_plan, share):
    graph = two_products(rows)
    chosen = choose(graph, BASE)
    assert (chosen.schedule_loads, chosen.by_plan) == (True, by_plan)
    usual, by_need = (
        predict_graph(compile_graph(graph, BASE, choices=choices), BASE).cycles
        for choices in (Choices(), chosen)
    )
    assert by_need <= share * usual


def test_many_rows_keep_their_regular_order():
    chosen = choose(two_products(33), BASE)
    assert (chosen.schedule_loads, chosen.by_plan) == (False, False)


def test_the_same_program_has_the_same_schedule():
    ops = lower_graph(random_case(5, ops=8).graph, TINY, IN_ORDER).ops
    assert schedule_by_need(ops, TINY) == schedule_by_need(ops, TINY)
