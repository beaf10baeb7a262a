"""Schedules by need: legal permutations of any program, and faster where loads set the pace."""

from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.graphs.random_graph import random_case
from celosia.sw.compiler.choose import choose
from celosia.sw.compiler.passes import predict
from celosia.sw.decoding.texts import Text
from celosia.sw.ir.graph import Requantize, Sums, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.program import Products, Store
from celosia.sw.models.cases import (
    attention_case,
    encoder_case,
    random_quantized_encoder,
)
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.reference.encoder import EncoderShape
from celosia.sw.scheduling.by_need import schedule_by_need
from celosia.sw.scheduling.expansion.expand import expand
from tests.sw.models.decoder_runs import model
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


@pytest.mark.parametrize(("rows", "piece", "share"), [(10, 1, 0.985), (30, 4, 1.005)])
def test_few_rows_gain_or_lose_nothing(rows, piece, share):
    graph, pieces = two_products(rows), replace(IN_ORDER, piece_tiles=piece)
    usual, by_need = (predict(graph, BASE, choices).cycles for choices in (Choices(), pieces))
    assert by_need <= share * usual


def test_many_rows_keep_their_regular_order():
    assert not choose(two_products(33), BASE).schedule_loads


def test_the_same_program_has_the_same_schedule():
    ops = program(random_case(5, ops=8), TINY, IN_ORDER)
    assert schedule_by_need(ops, TINY) == schedule_by_need(ops, TINY)


@pytest.fixture(scope="module")
def sixteen_texts():
    """A layer of few heads, of a token of each text."""
    decoder = model("gpt2", layers=1, width=768, heads=2, key_heads=2, whole=False)
    return decoder.graph([Text(3)] * 16, 24)


def test_no_product_stands_behind_more_stores_than_their_queue_takes(sixteen_texts):
    """Each text has its own row of the caches, so a transform leaves a store for each of them."""
    before = expand(decide_graph(sixteen_texts, BASE, IN_ORDER), sixteen_texts)
    ops = [written.op for written in schedule_by_need(before, BASE)]
    last = max(index for index, op in enumerate(ops) if isinstance(op, Products))
    runs = groupby(ops[:last], key=lambda op: isinstance(op, Products))
    stores = [sum(isinstance(op, Store) for op in run) for products, run in runs if not products]
    assert 0 < max(stores) <= BASE.store_queue + 1  # One has left the queue meanwhile.


def test_transforms_of_several_texts_are_over_before_products_need_them(sixteen_texts):
    """The layer takes 8 % more than its tiles, with all waits; 8.8 % if transforms come late."""
    constants = [sixteen_texts.tensors[name] for name in sixteen_texts.constants]
    weights = sum(each.rows * each.cols for each in constants if each.type == "int8")
    tiles = weights // BASE.dim**2 + 16 * 2 * 768 // BASE.dim  # Keys and values: one for each text.
    found = predict(sixteen_texts, BASE, IN_ORDER)
    assert found.cycles <= 1.08 * BASE.dim * tiles


def test_stores_of_norms_do_not_stand_before_products():
    """Queries behind one of 30 rows take 2.8 % more than their tiles; 6.3 % behind its stores."""
    shape = EncoderShape(layers=2, width=384, heads=12, hidden=384)
    graph = encoder_case(random_quantized_encoder(shape, 0), [11, 10, 9], 0).graph
    shares = predict(graph, BASE, IN_ORDER).shares()
    cycles = sum(cycles for operator, cycles in shares if operator == "1.query")
    assert cycles <= 1.04 * 30 * (384 // BASE.dim) ** 2


def test_stores_of_sums_come_when_products_have_left_their_bank():
    """Products of 16 rows add to a bank in each cycle, and stores wait in their queue till then."""
    builder, weights = GraphBuilder("product"), np.ones((128, 2048), np.int8)
    left = builder.input(Tensor("x", "int8", 16, 128))
    out = builder.tensor(Tensor("y", "int32", 16, 2048))
    builder.matmul("y", out, left, builder.constant("w", weights), Sums())
    graph = builder.finish("y")
    before = expand(decide_graph(graph, BASE, IN_ORDER), graph)
    ops = [written.op for written in schedule_by_need(before, BASE)]
    half = BASE.accumulator_rows // 2
    blocks = [0]
    bank = 0
    for op in ops[: max(at for at, op in enumerate(ops) if isinstance(op, Products))]:
        if isinstance(op, Products) and op.c // half != bank:
            bank = op.c // half
            blocks.append(0)
        elif isinstance(op, Store):
            blocks[-1] += op.source.row // half == bank
    assert len(blocks) == 4
    assert max(blocks) < BASE.store_queue
