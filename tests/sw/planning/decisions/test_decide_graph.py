"""Plans of graphs: what is refused, and how short texts of plans are."""

from dataclasses import replace
from functools import cache
from typing import get_args

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.lab.graphs.pairs import scores_case
from celosia.sw.compiler.passes import predict
from celosia.sw.ir.graph import (
    DeferredSoftmax,
    DivideBySums,
    MatMul,
    Op,
    Requantize,
    Softmax,
    Sums,
    Tensor,
    Transform,
)
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.program import Load, Store
from celosia.sw.models.cases import (
    attention_case,
    encoder_layer_case,
    random_quantized_encoder,
)
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.decisions.decide_graph import DECIDE, decide_graph
from celosia.sw.planning.forms.groups import Heads, Linear, on_chip
from celosia.sw.planning.forms.stages import AttentionStage, LinearStage, TailPart
from celosia.sw.planning.forms.text import parse_plan, print_plan
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.reference.encoder import EncoderShape
from tests.sw.scheduling.expansions import expanded

BASE, TINY = resolve_config("base"), resolve_config("tiny")


@cache
def model():
    """An encoder, which not every process that collects the tests has to quantize."""
    return random_quantized_encoder(EncoderShape(layers=2, width=128, heads=4, hidden=256), 0)


def test_every_kind_of_group_has_a_row():
    """Operators of sums are in groups of their own."""
    alone = {kind for kind in get_args(Op) if not issubclass(kind, MatMul | Transform)}
    for kind in (Heads, Linear, *alone):
        assert sum(issubclass(kind, each) for each in DECIDE) == 1


@pytest.mark.parametrize(
    ("rows", "asked", "stay"),
    [(32, False, True), (33, False, False), (33, True, True), (64, True, True), (640, True, False)],
)
def test_results_stay_of_twice_the_rows_of_the_array_or_if_asked_and_there_is_room(
    rows, asked, stay
):
    layer = encoder_layer_case(model(), [rows], 0).graph
    plan = decide_graph(layer, BASE, Choices(results_stay=asked))
    assert (len(plan.rings["bytes"].spans) == 2) is stay


def test_results_that_stay_are_not_loaded():
    case = encoder_layer_case(model(), [40], 0)
    loads = [
        sum(
            isinstance(written.op, Load)
            for written in expanded(
                case, BASE, decide_graph(case.graph, BASE, Choices(results_stay=stay))
            )
        )
        for stay in (False, True)
    ]
    assert loads[1] < 0.8 * loads[0]


def test_a_bias_that_is_computed_is_refused():
    builder = GraphBuilder("bias")
    a = builder.input(Tensor("a", "int8", 1, 4))
    w = builder.constant("w", np.ones((4, 4), np.int8))
    bias = builder.tensor(Tensor("bias", "int32", 1, 4))
    out = builder.tensor(Tensor("out", "int8", 1, 4))
    builder.matmul("first", bias, a, w, Sums())
    builder.matmul("second", out, a, w, Requantize(1.0), bias=bias)
    with pytest.raises(PlanError, match=r"^given: stage second: bias\[0:1, 0:4\] is no constant"):
        decide_graph(builder.finish("out"), TINY)


def test_a_bias_of_scores_that_does_not_fit_is_refused():
    case = attention_case(1, 40, 4, seed=1)
    op = case.graph.ops[0]
    assert isinstance(op, MatMul)
    bias = Tensor("bias", "int32", 1, 40)
    graph = replace(
        case.graph,
        tensors={**case.graph.tensors, "bias": bias},
        inputs=(*case.graph.inputs, "bias"),
        ops=(replace(op, bias=bias.view()), *case.graph.ops[1:]),
    )
    config = TINY.with_values({"parameter_rows": 8})
    with pytest.raises(PlanError, match=r"^parameters-fit: .* 1 x 10 rows do not fit"):
        decide_graph(graph, config)


def test_heads_of_two_shapes_are_two_groups_of_one_stage():
    shape = EncoderShape(layers=2, width=16, heads=2, hidden=32)
    graph = encoder_layer_case(random_quantized_encoder(shape, 1), [5, 9], 1).graph
    (stage,) = (s for s in decide_graph(graph, TINY).stages if isinstance(s, AttentionStage))
    assert [(len(group.heads), sum(group.rows)) for group in stage.groups] == [(2, 5), (2, 9)]


@pytest.mark.parametrize(
    ("tokens", "width", "lanes", "rows"),
    [
        (128, 32, 8, (32,) * 4),
        (112, 32, 8, (38, 38, 36)),  # Seven tiles of rows are in no blocks of whole tiles.
        (128, 32, 16, (64, 64)),  # The array has more to do than the lanes,
        (128, 64, 8, (64, 64)),  # and so it has here.
        (256, 32, 8, (26,) * 9 + (22,)),  # Less than two tiles: as many as fit,
        (512, 32, 8, (15,) * 34 + (2,)),  # even fewer than a tile.
    ],
)
def test_blocks_have_halves_by_turns_where_lanes_are_as_busy_as_the_array(
    tokens, width, lanes, rows
):
    graph = attention_case(2, tokens, width, seed=1).graph
    plan = decide_graph(graph, BASE.with_values({"vector_lanes": lanes}))
    (stage,) = (stage for stage in plan.stages if isinstance(stage, AttentionStage))
    (group,) = stage.groups
    assert group.rows == rows
    spans = plan.rings[group.scores].spans
    assert (len(spans), stage.first) == ((1, "halves") if rows[0] in {16, 64} else (2, ""))
    for (first, scores), (context, _) in zip(
        spans, plan.rings[group.contexts].spans[: len(spans)], strict=True
    ):
        assert len(spans) == 1 or context == first + scores


def test_what_is_alike_is_said_once():
    """The text of a plan grows with the stages, not with their blocks."""
    graph = encoder_layer_case(model(), [128], 0).graph
    plan = decide_graph(graph, BASE)
    text = print_plan(plan)
    assert parse_plan(text) == plan
    assert len(text) < 4500
    assert max(map(len, text.splitlines())) < 500


@pytest.mark.parametrize(
    ("tokens", "tails"), [(128, [(), (32, 32)]), (60, [(32, 28), (32, 28)]), (10, [(), (10,)])]
)
def test_the_end_that_nothing_hides_is_in_parts(tokens, tails):
    graph = encoder_layer_case(model(), [tokens], 0).graph
    stages = decide_graph(graph, BASE).stages
    fused = [stage for stage in stages if isinstance(stage, LinearStage) and stage.norm]
    assert [tuple(part.rows for part in stage.tail) for stage in fused] == tails
    last = fused[-1].tail[-1]
    source = "words" if tokens > BASE.dim else ""
    assert last == TailPart(rows=last.rows, tiles=4, source=source)


def test_few_rows_stay_on_the_chip_and_are_stored_all_the_same():
    """Only what is given is loaded."""
    case = encoder_layer_case(model(), [10], 0)
    graph = case.graph
    ops = [one.op for one in expanded(case, BASE, decide_graph(graph, BASE))]
    computed = {view.tensor for op in graph.ops for view in op.results}
    loaded = {op.view.tensor for op in ops if isinstance(op, Load)} & computed
    stored = {op.view.tensor for op in ops if isinstance(op, Store)}
    assert not loaded
    assert stored == computed - on_chip(graph)


def test_what_does_not_fit_among_few_rows_has_all_banks():
    """The keys of a head take more than their share of a bank."""
    graph = attention_case(1, 300, 32, seed=1).graph
    few = replace(graph, ops=tuple(_few_rows(op) for op in graph.ops))
    assert decide_graph(few, BASE).rings["weights"].spans[0][1] < BASE.scratchpad_rows // 4


def _few_rows(op: Op) -> Op:
    assert isinstance(op, MatMul)
    a, out, finish = (op.a.part(rows=4), op.out.part(rows=4), op.finish)
    assert isinstance(finish, DeferredSoftmax | DivideBySums)
    return replace(op, a=a, out=out, finish=replace(finish, sums=finish.sums.part(rows=4)))


def test_a_softmax_of_few_whole_rows_goes_block_by_block():
    """A tile of weights serves as many rows as the array has, and not fewer."""
    for tokens, whole in ((512, True), (1024, False)):
        graph = scores_case(1, tokens, 16, 0, spilled=False).graph
        (stage,) = decide_graph(graph, BASE).stages
        assert isinstance(stage, LinearStage)
        assert (len(stage.tiles) == 1) == whole
        assert max(stage.rows) >= BASE.dim


def test_a_softmax_of_long_rows_is_faster_block_by_block():
    """Products of the one row that has room take four times as long; three passes take three."""
    keys = TINY.accumulator_rows // 2 * TINY.dim
    builder = GraphBuilder("long rows")
    q, k = (builder.input(Tensor(n, "int8", r, 16)) for n, r in (("q", 16), ("k", keys)))
    out = builder.tensor(Tensor("out", "uint8", 16, keys))
    builder.matmul("scores", out, q, k, Softmax(0.1), b_transposed=True)
    graph = builder.finish("out")
    plan = decide_graph(graph, TINY)
    (stage,) = plan.stages
    assert isinstance(stage, LinearStage)
    rows = replace(stage, rows=(1,) * 16, tiles=(keys // TINY.dim,))
    whole = predict(graph, TINY, replace(plan, stages=(rows,))).cycles
    assert predict(graph, TINY, plan).cycles < 0.9 * whole


def test_a_softmax_of_fewer_rows_than_the_array_has_stays_whole():
    """There is nothing to gain: its blocks would not be taller."""
    graph = scores_case(1, 2 * BASE.dim, 64, 0, spilled=False).graph
    (stage,) = decide_graph(graph, BASE).stages
    assert isinstance(stage, LinearStage)
    assert len(stage.tiles) == 1
