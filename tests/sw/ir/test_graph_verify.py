"""Ill-formed graphs, each an error that names its place."""

import re
from dataclasses import replace

import numpy as np
import pytest

from celosia.sw.ir.graph import (
    Activation,
    DeferredSoftmax,
    DivideBySums,
    LayerNorm,
    Mask,
    MatMul,
    Requantize,
    Softmax,
    Sums,
    Tensor,
    Transform,
    View,
)
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.graph_verify import verify
from celosia.sw.models.cases import (
    activation_case,
    attention_case,
    layernorm_case,
    matmul_case,
    multiply_case,
    residual_case,
    softmax_case,
)

MATMUL = matmul_case(4, 6, 8, 0).graph
ATTENTION = attention_case(2, 3, 4, 0).graph
NORM = layernorm_case(2, 8, 0).graph


def change(graph, index=0, **changes):
    ops = list(graph.ops)
    ops[index] = replace(ops[index], **changes)
    return replace(graph, ops=tuple(ops))


def refuse(graph, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        verify(graph)


def finish(graph, how, index=0):
    return change(graph, index, finish=how)


@pytest.mark.parametrize("graph", [MATMUL, ATTENTION, NORM, activation_case("gelu", 2, 3, 0).graph])
def test_a_good_graph_is_returned(graph):
    assert verify(graph) is graph


def test_views_are_inside_of_their_tensors():
    refuse(change(MATMUL, a=View("a", 1, 0, 4, 8)), "a[1:5, 0:8] is not inside of 4x8")
    refuse(change(MATMUL, a=View("a", 0, 1, 4, 8)), "a[0:4, 1:9] is not inside of 4x8")
    refuse(change(MATMUL, a=View("a", -1, 0, 4, 8)), "a[-1:3, 0:8] is not inside of 4x8")
    refuse(change(MATMUL, a=View("a", 0, -1, 4, 8)), "a[0:4, -1:7] is not inside of 4x8")
    refuse(change(MATMUL, a=View("a", 0, 0, 0, 8)), "a[0:0, 0:8] is not inside of 4x8")
    refuse(change(MATMUL, a=View("z", 0, 0, 4, 8)), "z: there is no such tensor")


def test_shapes_and_types_fit_the_product():
    refuse(change(MATMUL, b_transposed=True), "b: b[0:8, 0:6] is 8x6, not 6x8")
    refuse(change(MATMUL, a=View("bias", 0, 0, 1, 6)), "a: bias[0:1, 0:6] is int32")
    refuse(change(MATMUL, out=View("out", 0, 0, 3, 6)), "out: out[0:3, 0:6] has 3 rows, a has 4")
    refuse(change(MATMUL, bias=View("bias", 0, 0, 1, 5)), "bias: bias[0:1, 0:5] is 1x5, not 1x6")
    refuse(finish(MATMUL, Sums()), "out: out[0:4, 0:6] is int8, not int32")


@pytest.mark.parametrize("scale", [np.nan, np.inf, -np.inf, 1e39])
def test_a_scale_is_finite(scale):
    refuse(finish(MATMUL, Requantize(scale)), f"scale: {scale} is not a finite float32")


def test_scales_of_columns_are_finite_constants_of_the_right_type():
    scale = np.full((1, 6), np.nan, np.float32)
    bad = replace(MATMUL, constants={**MATMUL.constants, "scale": scale})
    refuse(bad, "scale: scale[0:1, 0:6] is not finite everywhere")
    refuse(finish(MATMUL, Requantize(View("bias", 0, 0, 1, 6))), "is int32, not float32")
    refuse(finish(MATMUL, Requantize(View("scale", 0, 0, 1, 5))), "is 1x5, not 1x6")
    inputs = {name: value for name, value in MATMUL.constants.items() if name != "scale"}
    given = replace(MATMUL, constants=inputs, inputs=("a", "scale"))
    refuse(given, "scale: scale[0:1, 0:6] is not a constant")


def test_only_scores_begin_with_something():
    refuse(change(MATMUL, onto=View("a", 0, 0, 4, 6)), "onto: only the sums of a deferred softmax")
    scores = attention_case(1, 4, 8, 0).graph
    refuse(change(scores, onto=View("query", 0, 0, 4, 4)), "onto: query[0:4, 0:4] is int8")
    refuse(change(scores, onto=View("query", 0, 0, 4, 3)), "onto: query[0:4, 0:3] is int8")


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf])
def test_the_scale_of_scores_is_positive(scale):
    graph = softmax_case(2, 3, 0).graph
    refuse(finish(graph, Softmax(scale)), "is not one positive finite float32")


def test_a_mask_has_no_more_keys_than_there_are_columns():
    graph = softmax_case(2, 3, 0).graph
    assert verify(finish(graph, Softmax(1.0, Mask(keys=0))))
    refuse(finish(graph, Softmax(1.0, Mask(keys=4))), "keys: 4 is not in 0..3")


def test_a_row_is_no_longer_than_supported():
    builder = GraphBuilder("long")
    source = builder.input(Tensor("source", "int32", 1, 4097))
    out = builder.tensor(Tensor("out", "uint8", 1, 4097))
    builder.transform("softmax", out, source, Softmax(1.0))
    with pytest.raises(ValueError, match="rows of 4097 columns are longer than the 4096 supported"):
        builder.finish("out")


def test_a_zero_point_is_for_uint8():
    refuse(finish(MATMUL, Requantize(1.0, zero_point=1)), "zero point: 1 is not in 0..0")
    gelu = activation_case("gelu", 2, 3, 0).graph
    op = gelu.ops[0]
    assert isinstance(op, Transform)
    refuse(finish(gelu, replace(op.finish, zero_point=256)), "zero point: 256 is not in 0..255")


def test_sums_have_one_column():
    bad = DeferredSoftmax(1.0, View("sums", 0, 0, 2, 1))
    refuse(finish(ATTENTION, bad), "sums: sums[0:2, 0:1] is 2x1, not 3x1")
    bad = DivideBySums(View("query", 0, 0, 3, 1), 1.0)
    refuse(finish(ATTENTION, bad, 1), "sums: query[0:3, 0:1] is int8, not int32")


def test_a_residual_is_int16_of_the_same_shape():
    graph = residual_case(2, 3, 0).graph
    op = graph.ops[0]
    assert isinstance(op, Transform)
    bad = replace(op.finish, residual=View("source", 0, 0, 2, 3))
    refuse(finish(graph, bad), "residual: source[0:2, 0:3] is int32, not int16")


def test_a_normalization_has_one_or_two_outputs_and_a_shift():
    op = NORM.ops[0]
    assert isinstance(op, LayerNorm)
    refuse(change(NORM, outputs=()), "outputs: 0 are not one or two")
    bad = replace(op.outputs[0], shift=32)
    refuse(change(NORM, outputs=(bad, op.outputs[1])), "shift: 32 is not in 0..31")


@pytest.mark.parametrize("epsilon", [-1, 1 << 40])
def test_an_epsilon_has_forty_bits(epsilon):
    refuse(change(NORM, epsilon=epsilon), f"epsilon: {epsilon} is not in 0..1099511627775")


@pytest.mark.parametrize(
    ("change_of", "message"),
    [
        ({"function": "divide"}, "function: 'divide' is none of multiply, rotate"),
        ({"a": View("gate", 0, 0, 2, 2)}, "a: gate[0:2, 0:2] is 2x2, not 2x3"),
        ({"b": View("out", 0, 0, 2, 3)}, "out[0:2, 0:3] is read before it is written"),
        ({"function": "rotate"}, "rotate: rows of 3 columns are not two halves"),
        ({"scale": float("inf")}, "scale: inf is not a finite float32"),
        ({"zero_point": 1}, "zero point: 1 is not in 0..0"),
    ],
)
def test_a_combination_is_of_two_int16_of_a_shape(change_of, message):
    refuse(change(multiply_case(2, 3, 0).graph, **change_of), message)


def test_an_activation_is_a_known_one():
    graph = activation_case("silu", 2, 3, 0).graph
    refuse(finish(graph, Activation("relu6", 1.0, 1.0)), "function: 'relu6' is none of gelu, silu")


def test_everything_is_written_once_and_before_it_is_read():
    refuse(replace(ATTENTION, ops=ATTENTION.ops[1:]), "is read before it is written")
    op = MATMUL.ops[0]
    assert isinstance(op, MatMul)
    twice = replace(MATMUL, ops=(op, replace(op, name="again")))
    refuse(twice, "out[0:4, 0:6] is written a second time")
    refuse(replace(MATMUL, ops=(op, op)), "another operator has this name")
    refuse(change(MATMUL, out=View("a", 0, 0, 4, 6)), "a[0:4, 0:6] is written a second time")
    refuse(replace(ATTENTION, ops=ATTENTION.ops[:2]), "output context: not all of it is written")
    refuse(replace(MATMUL, outputs=("z",)), "output z: there is no such tensor")


@pytest.mark.parametrize(("rows", "cols"), [(3, 6), (4, 5)])
def test_what_is_written_in_part_is_not_read_as_a_whole(rows, cols):
    builder = GraphBuilder("part")
    a = builder.input(Tensor("a", "int32", 4, 6))
    middle = builder.tensor(Tensor("middle", "int32", 4, 6))
    out = builder.tensor(Tensor("out", "int32", 4, 6))
    part = {"rows": rows, "cols": cols}
    builder.transform("first", middle.part(**part), a.part(**part), Sums())
    builder.transform("second", out, middle, Sums())
    with pytest.raises(ValueError, match=r"middle\[0:4, 0:6\] is read before it is written"):
        builder.finish("out")


@pytest.mark.parametrize("second", [2, 1, 3])
def test_pieces_that_are_written_do_not_overlap(second):
    """Two rows, and the other two: beside them, onto one of them, and beyond the end."""
    builder = GraphBuilder("pieces")
    a = builder.input(Tensor("a", "int32", 4, 6))
    out = builder.tensor(Tensor("out", "int32", 4, 6))
    for name, row in (("first", 0), ("second", second)):
        piece = View("out", row, 0, 2, 6)
        builder.transform(name, piece, a.part(rows=2), Sums())
    if second == 2:
        assert builder.finish("out").ops[1].results == (View("out", 2, 0, 2, 6),)
        builder.transform("third", out, a, Sums())
    place = f"out[{second}:{second + 2}, 0:6]"
    why = {2: "out[0:4, 0:6] is written a second time", 1: f"{place} is written a second time"}
    with pytest.raises(ValueError, match=re.escape(why.get(second, f"{place} is not inside"))):
        builder.finish("out")


def test_constants_are_what_their_tensors_say():
    wrong = {**MATMUL.constants, "b": np.zeros((8, 5), np.int8)}
    refuse(replace(MATMUL, constants=wrong), "its value is int8 of (8, 5)")
    tensors = {**MATMUL.tensors, "out": Tensor("out", "int9", 4, 6)}
    refuse(replace(MATMUL, tensors=tensors), "int9 is none of int8, uint8")
    tensors = {**MATMUL.tensors, "out": Tensor("out", "int8", 0, 6)}
    refuse(replace(MATMUL, tensors=tensors), "rows and columns are not in 1..")
    tensors = {**MATMUL.tensors, "out": Tensor("other", "int8", 4, 6)}
    refuse(replace(MATMUL, tensors=tensors), "listed as out")
