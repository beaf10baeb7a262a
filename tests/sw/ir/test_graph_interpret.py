"""What graphs compute, against real numbers and definitions written out here."""

import re
from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.numerics import GELU_SCALE
from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    Mask,
    MatMul,
    Requantize,
    Sums,
    Tensor,
    Transform,
    View,
)
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import (
    activation_case,
    attention_case,
    layernorm_case,
    matmul_case,
    multiply_case,
    residual_case,
    rmsnorm_case,
    softmax_case,
)
from celosia.sw.reference.encoder import gelu
from celosia.sw.reference.matmul import matmul_reference


def run(case):
    return interpret(case.graph, case.inputs)


def transform(finish, source, kind, **options):
    builder = GraphBuilder("one")
    given = builder.input(Tensor("source", "int32", *source.shape))
    out = builder.tensor(Tensor("out", kind, *source.shape))
    bias = options.get("bias")
    view = None if bias is None else builder.constant("bias", bias)
    builder.transform("one", out, given, finish, view)
    return interpret(builder.finish("out"), {"source": source})["out"]


def test_a_product_is_requantized_by_column():
    case = matmul_case(5, 7, 40, 1)
    constants = case.graph.constants
    result = run(case)["out"]
    sums = matmul_reference(case.inputs["a"], constants["b"], constants["bias"][0])
    expected = np.rint(sums.astype(np.float32) * constants["scale"])
    assert (result == np.clip(expected, -128, 127)).all()
    assert len(np.unique(result)) > 20


def test_sums_may_stay_and_a_bias_wraps():
    source = np.array([[1, (1 << 31) - 1]], np.int32)
    bias = np.array([[5, 1]], np.int32)
    assert transform(Sums(), source, "int32", bias=bias).tolist() == [[6, -(1 << 31)]]


def test_relu_and_zero_point_act_on_the_way_out():
    source = np.array([[-100, 0, 100, 9000]], np.int32)
    assert transform(Requantize(0.5, relu=True), source, "int8").tolist() == [[0, 0, 50, 127]]
    assert transform(Requantize(0.5, 10), source, "uint8").tolist() == [[0, 10, 60, 255]]


def test_softmax_is_near_the_real_one():
    case = softmax_case(6, 50, 3)
    real = np.exp(case.inputs["source"] * 1e-4)
    real /= real.sum(axis=1, keepdims=True)
    result = run(case)["out"]
    assert result.dtype == np.uint8
    assert np.abs(result / 255 - real).max() < 4e-3


def test_a_mask_leaves_out_columns():
    source = softmax_case(3, 5, 3, mask=Mask(keys=2))
    result = run(source)["out"]
    assert (result[:, 2:] == 0).all()
    assert (result[:, :2] > 0).any()
    both = run(softmax_case(3, 5, 3, mask=Mask(keys=2, causal=True)))["out"]
    assert both[0].tolist() == [255, 0, 0, 0, 0]
    assert (both[1:] == result[1:]).all()
    assert (run(softmax_case(3, 5, 3, mask=Mask(keys=0)))["out"] == 0).all()


def test_gelu_is_near_the_real_one():
    case = activation_case("gelu", 20, 30, 5)
    op = case.graph.ops[0]
    assert isinstance(op, Transform)
    assert isinstance(op.finish, Activation)
    step = GELU_SCALE / op.finish.out_scale
    result = (run(case)["out"].astype(np.float64) - op.finish.zero_point) * step
    real = gelu((case.inputs["source"] * 1e-4).astype(np.float32))
    assert np.abs(result - real).max() < 0.0182 + step / 2 + 1e-3


def test_a_residual_is_added_in_its_own_scale():
    case = residual_case(4, 5, 7)
    real = case.inputs["source"] * 1e-4 + case.inputs["stream"] * 2e-4
    assert np.abs(run(case)["out"] * 3e-4 - real).max() <= 3.01e-4
    op = case.graph.ops[0]
    assert isinstance(op, Transform)
    assert isinstance(op.finish, AddResidual)


def deviations(x):
    return (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)


def over_the_root_mean_square(x):
    return x / np.sqrt(np.square(x).mean(axis=1, keepdims=True) + 0.01 * 2000**2)


@pytest.mark.parametrize(
    ("make", "norm"), [(layernorm_case, deviations), (rmsnorm_case, over_the_root_mean_square)]
)
def test_both_outputs_of_a_normalization_are_near_the_real_one(make, norm):
    case = make(5, 96, 9)
    normal = norm(case.inputs["source"].astype(np.float64))
    values = run(case)
    wide, small = values["wide"] * (8 / 32767), values["small"] * (4 / 127)
    slope = np.array([np.polyfit(n, w, 1) for n, w in zip(normal.T, wide.T, strict=True)])
    assert np.abs(normal * slope[:, 0] + slope[:, 1] - wide).max() < 2e-3
    inside = np.abs(wide) < 3.9
    assert np.abs(wide - small)[inside].max() < 2 / 127 + 1e-3


def test_a_gate_is_multiplied_by_what_it_lets_through():
    case = multiply_case(5, 9, 3)
    gate, up = (case.inputs[name].astype(np.int64) for name in ("gate", "up"))
    result = run(case)["out"]
    assert np.abs(gate * up * (127 / 8000**2) - result).max() <= 0.5001
    assert len(np.unique(result)) > 15


def test_deferred_attention_is_near_the_real_one():
    case = attention_case(2, 30, 16, 11)
    values = run(case)
    scale = 2 / (40.0**2 * np.sqrt(16))
    for head in range(2):
        cols = slice(16 * head, 16 * head + 16)
        q, k, v = (case.inputs[name][:, cols].astype(float) for name in ("query", "key", "value"))
        scores = np.exp(q @ k.T * scale)
        real = scores / scores.sum(axis=1, keepdims=True) @ v * 2
        assert np.abs(values["context"][:, cols] - np.clip(real, -128, 127)).max() < 1.5
    rows = values["numerators"].reshape(2, 30, 30)
    assert (rows.max(axis=2) == 255).all()
    assert (values["sums"].reshape(2, 30) == rows.sum(axis=2)).all()


def test_masked_keys_have_no_part_in_attention():
    case = attention_case(1, 8, 16, 2, mask=Mask(keys=5))
    other = attention_case(1, 8, 16, 2, mask=Mask(keys=5))
    other.inputs["value"][5:] = 99
    other.inputs["key"][5:] = -77
    assert (run(case)["context"] == run(other)["context"]).all()


def test_scores_begin_with_what_is_put_under_them():
    case = attention_case(1, 8, 16, 2)
    first, *others = case.graph.ops
    assert isinstance(first, MatMul)
    hidden = np.zeros((8, 8), np.int32)
    hidden[:, 5:] = -(1 << 30)
    graph = replace(
        case.graph,
        tensors={**case.graph.tensors, "onto": Tensor("onto", "int32", 8, 8)},
        ops=(replace(first, onto=View("onto", 0, 0, 8, 8)), *others),
        constants={"onto": hidden},
    )
    masked = attention_case(1, 8, 16, 2, mask=Mask(keys=5))
    assert (interpret(graph, case.inputs)["context"] == run(masked)["context"]).all()


def test_inputs_are_checked():
    case = matmul_case(2, 3, 4, 0)
    with pytest.raises(ValueError, match="input a is missing"):
        interpret(case.graph, {})
    message = re.escape("input a is int16 of (2, 4), not int8 of (2, 4)")
    with pytest.raises(ValueError, match=message):
        interpret(case.graph, {"a": np.zeros((2, 4), np.int16)})


def test_progress_counts_operators():
    steps = []
    case = attention_case(2, 3, 4, 0)
    interpret(case.graph, case.inputs, lambda done, total: steps.append((done, total)))
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
