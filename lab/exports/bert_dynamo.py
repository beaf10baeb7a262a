"""BERT, as torch's newer exporter writes it: with functions at opset 18, or optimized at 23."""

from typing import Any

import numpy as np
from onnx import FunctionProto, TensorProto, helper

from celosia.lab.exports.bert import EPSILON, TOKENS, BertWeights
from celosia.lab.exports.writing.dynamo import DynamoTape
from celosia.lab.exports.writing.masks import LEAST
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import END

__all__ = ["bert_dynamo"]

LIBRARY = "pkg.onnxscript.torch_lib"
"""The domain of functions that stand for torch's operators."""
MODULES = "pkg.torch.2.4.0"
"""The domain of functions that stand for modules, and call the others."""


def bert_dynamo(size: Size, seed: int, *, optimized: bool = False) -> Any:
    """The model: as exported (opset 18), or optimized, with Attention and Gelu (opset 23)."""
    tape = DynamoTape("main_graph", 23 if optimized else 18, optimized=optimized)
    weights = BertWeights(size, seed)
    names = ("input_ids", "attention_mask", "token_type_ids")
    tokens, mask, kinds = (tape.input(name, TensorProto.INT64, TOKENS) for name in names)
    batch, length = tape.size(kinds, 0), tape.size(kinds, 1)
    x = _embeddings(tape, weights, tokens, kinds, length)
    bias = _mask(tape, mask, batch, length)
    for layer in range(size.layers):
        x = _layer(tape, weights, f"encoder.layer.{layer}", x, bias)
    tape.output(x, "last_hidden_state", (*TOKENS, size.width))
    if optimized:
        return tape.model()
    return tape.model([(LIBRARY, 1), (MODULES, 1)], _functions())


def _embeddings(
    tape: DynamoTape, weights: BertWeights, tokens: str, kinds: str, length: str
) -> str:
    numbers = np.arange(weights.size.positions)[np.newaxis]
    numbers = tape.slice(tape.weight("embeddings.position_ids", numbers), 0, length, 1)
    rows = []
    for part, indices in (("word", tokens), ("token_type", kinds), ("position", numbers)):
        name = f"embeddings.{part}_embeddings.weight"
        rows.append(tape.op("Gather", tape.weight(name, weights[name]), indices, axis=0))
    total = tape.op("Add", tape.op("Add", rows[0], rows[1]), rows[2])
    return _norm(tape, weights, "embeddings.LayerNorm", total)


def _mask(tape: DynamoTape, mask: str, batch: str, length: str) -> str:
    whole = tape.slice(mask, 0, END, 0)
    whole = tape.op("Unsqueeze", tape.unsqueeze(whole, 1), tape.constant([2]))
    whole = tape.cast(tape.expand(whole, batch, 1, length, length), TensorProto.FLOAT)
    one = tape.weight("lifted_tensor_0", np.array(1, np.float32))
    inverted = tape.op("Sub", one if tape.optimized else tape.op("Identity", one), whole)
    absent = tape.cast(inverted, TensorProto.BOOL)
    return tape.op("Where", absent, tape.like(LEAST, inverted), inverted)


def _layer(tape: DynamoTape, weights: BertWeights, module: str, x: str, bias: str) -> str:
    context = _attention(tape, weights, f"{module}.attention.self", x, bias)
    joined = _linear(tape, weights, f"{module}.attention.output.dense", context)
    norm = f"{module}.attention.output.LayerNorm"
    x = _norm(tape, weights, norm, tape.op("Add", joined, x))
    hidden = _linear(tape, weights, f"{module}.intermediate.dense", x)
    if tape.optimized:
        hidden = tape.op("Gelu", hidden, approximate="none")
    else:
        hidden = tape.op("_aten_gelu_approximate_none", hidden, domain=LIBRARY)
    joined = _linear(tape, weights, f"{module}.output.dense", hidden)
    return _norm(tape, weights, f"{module}.output.LayerNorm", tape.op("Add", joined, x))


def _linear(tape: DynamoTape, weights: BertWeights, module: str, x: str) -> str:
    matrix = tape.matrix(f"{module}.weight", weights[f"{module}.weight"])
    bias = tape.weight(f"{module}.bias", weights[f"{module}.bias"])
    return tape.op("Add", tape.op("MatMul", x, matrix), bias)


def _norm(tape: DynamoTape, weights: BertWeights, module: str, x: str) -> str:
    operands = [tape.weight(name, weights[name]) for name in (f"{module}.weight", f"{module}.bias")]
    if tape.optimized:
        attributes = {"axis": -1, "epsilon": EPSILON, "stash_type": 1}
        return tape.op("LayerNormalization", x, *operands, **attributes)
    return tape.op(
        "torch_nn_modules_normalization_LayerNorm", x, *operands, domain=MODULES, epsilon=EPSILON
    )


def _attention(tape: DynamoTape, weights: BertWeights, module: str, x: str, bias: str) -> str:
    size, batch, length = weights.size, tape.size(x, 0), tape.size(x, 1)
    heads = []
    for part in ("query", "key", "value"):
        linear = _linear(tape, weights, f"{module}.{part}", x)
        split = tape.reshape(linear, batch, -1, size.heads, size.head_width)
        heads.append(tape.op("Transpose", split, perm=[0, 2, 1, 3]))
    if tape.optimized:
        attributes = {"is_causal": 0, "qk_matmul_output_mode": 0, "softcap": 0.0}
        context = tape.op("Attention", *heads, bias, **attributes)
    else:
        context = _decomposed(tape, heads, bias)
    rows = tape.op("Transpose", context, perm=[0, 2, 1, 3])
    return tape.reshape(rows, batch, length, size.width)


def _decomposed(tape: DynamoTape, operands: list[str], bias: str) -> str:
    """Attention by MatMul: keys are transposed as a tensor of three axes."""
    queries, keys, values = operands
    width = tape.op("Gather", tape.op("Shape", queries), tape.constant([-1]), axis=0)
    root = tape.op("Sqrt", tape.op("CastLike", width, queries))
    scale = tape.op("Div", tape.like(1.0, queries), root)
    shape = tape.op("Shape", keys)
    last, before, outer = (
        tape.op("Slice", shape, tape.constant([start]), tape.constant([end]))
        for start, end in ((-1, END), (-2, -1), (-END - 1, -2))
    )
    three = tape.op("Concat", tape.constant([-1]), before, last, axis=0)
    turned = tape.op("Transpose", tape.op("Reshape", keys, three), perm=[0, 2, 1])
    four = tape.op("Concat", outer, last, before, axis=0)
    turned = tape.op("Reshape", turned, four)
    left, right = (tape.op("Mul", operand, tape.op("Sqrt", scale)) for operand in (queries, turned))
    scores = tape.op("Add", tape.op("MatMul", left, right), bias)
    return tape.op("MatMul", tape.op("Softmax", scores, axis=-1), values)


def _functions() -> list[FunctionProto]:
    """GELU and LayerNorm, the latter within a module's function."""
    plain = [helper.make_opsetid("", 18)]
    both = [*plain, helper.make_opsetid(LIBRARY, 1)]
    gelu = [
        helper.make_node("Constant", [], ["root"], value_float=float(np.sqrt(2))),
        helper.make_node("CastLike", ["root", "x"], ["root_like"]),
        helper.make_node("Div", ["x", "root_like"], ["ratio"]),
        helper.make_node("Erf", ["ratio"], ["erf"]),
        helper.make_node("Constant", [], ["one"], value_float=1.0),
        helper.make_node("CastLike", ["one", "x"], ["one_like"]),
        helper.make_node("Add", ["erf", "one_like"], ["more"]),
        helper.make_node("Mul", ["x", "more"], ["doubled"]),
        helper.make_node("Constant", [], ["half"], value_float=0.5),
        helper.make_node("CastLike", ["half", "x"], ["half_like"]),
        helper.make_node("Mul", ["half_like", "doubled"], ["result"]),
    ]
    norm = helper.make_node("LayerNormalization", ["x", "weight", "bias"], ["result"], axis=-1)
    norm.attribute.append(_reference("epsilon"))
    call = helper.make_node(
        "_aten_layer_norm_onnx", ["x", "weight", "bias"], ["result"], domain=LIBRARY
    )
    call.attribute.append(_reference("epsilon"))
    operands = ["x", "weight", "bias"]
    make = helper.make_function
    return [
        make(LIBRARY, "_aten_gelu_approximate_none", ["x"], ["result"], gelu, plain),
        make(LIBRARY, "_aten_layer_norm_onnx", operands, ["result"], [norm], plain, ["epsilon"]),
        make(
            MODULES,
            "torch_nn_modules_normalization_LayerNorm",
            operands,
            ["result"],
            [call],
            both,
            ["epsilon"],
        ),
    ]


def _reference(name: str) -> Any:
    """An attribute that a function hands on."""
    attribute = helper.make_attribute(name, 0.0)
    attribute.ClearField("f")
    attribute.ref_attr_name = name
    return attribute
