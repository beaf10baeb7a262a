"""Schedules by need: legal permutations of any program, and faster where loads set the pace."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.graphs.random_graph import random_case
from celosia.sw.compiler.choose import choose
from celosia.sw.compiler.passes import predict
from celosia.sw.ir.graph import Requantize, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.models.cases import (
    attention_case,
    encoder_case,
    random_quantized_encoder,
)
from celosia.sw.planning.choices import Choices
from celosia.sw.reference.encoder import EncoderShape
from celosia.sw.scheduling.by_need import schedule_by_need
from tests.sw.scheduling.expansions import check_order, check_scheduled, program

BASE, TINY = resolve_config("base"), resolve_config("tiny")
SMALL = EncoderShape(layers=2, width=32, heads=2, hidden=64)
IN_ORDER = Choices(schedule_loads=True)


def check(case, config, choices):
    check_scheduled(case, config, choices, schedule_by_need)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    "choices",
    [IN_ORDER, replace(IN_ORDER, block_tiles=1)],
    ids=["usual blocks", "small blocks"],
)
def test_a_scheduled_program_means_the_same(seed, choices):
    check(random_case(seed), TINY, choices)


@pytest.mark.parametrize("lengths", [[3], [9, 5]], ids=str)
def test_an_encoder_means_the_same(lengths):
    model = random_quantized_encoder(SMALL, 0)
    check(encoder_case(model, lengths, 0), TINY, IN_ORDER)


def test_attention_of_more_keys_than_fit_at_once_means_the_same():
    check(attention_case(2, 70, 8, 0), TINY, IN_ORDER)


def test_what_depends_on_each_other_keeps_its_order():
    check_order(random_case(3, ops=8), TINY, IN_ORDER, schedule_by_need)


def two_products(rows):
    """A product whose results are the operand of the next one."""
    builder, weights = GraphBuilder("products"), np.ones((256, 256), np.int8)
    left = builder.input(Tensor("x", "int8", rows, 256))
    for name in ("y", "z"):
        out = builder.tensor(Tensor(name, "int8", rows, 256))
        builder.matmul(name, out, left, builder.constant(f"{name}.w", weights), Requantize(0.01))
        left = out
    return builder.finish("z")


@pytest.mark.parametrize(("rows", "share"), [(10, 0.985), (30, 1.005)])
def test_few_rows_gain_or_lose_nothing(rows, share):
    graph = two_products(rows)
    chosen = choose(graph, BASE)
    assert chosen.schedule_loads
    usual, by_need = (predict(graph, BASE, choices).cycles for choices in (Choices(), chosen))
    assert by_need <= share * usual


def test_many_rows_keep_their_regular_order():
    assert not choose(two_products(33), BASE).schedule_loads


def test_the_same_program_has_the_same_schedule():
    ops = program(random_case(5, ops=8), TINY, IN_ORDER)
    assert schedule_by_need(ops, TINY) == schedule_by_need(ops, TINY)
