"""BERT, as ONNX Runtime's optimizer for transformers leaves it: operators of com.microsoft."""

from typing import Any

import numpy as np
from onnx import TensorProto

from celosia.lab.exports.bert import EPSILON, TOKENS, BertWeights
from celosia.lab.exports.writing.masks import LEAST
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape

__all__ = ["bert_fused"]

DOMAIN = "com.microsoft"
UNUSED = ("ai.onnx.ml", "ai.onnx.training", "com.microsoft.nchwc", "org.pytorch.aten")
"""Domains that the optimizer declares, and that no node has."""


class FusedTape(Tape):
    """A graph in the making, as the optimizer signs it."""

    producer = "onnxruntime.transformers"


def bert_fused(size: Size, seed: int, *, lengths: bool = True, approximate: bool = False) -> Any:
    """The model at opset 13.

    Attention reads either the texts' `lengths`, which the embedding counts in the mask, or the
    mask.  An `approximate` GELU is FastGelu, by tanh.
    """
    tape, weights = FusedTape("bert, fused", 13), BertWeights(size, seed)
    names = ("input_ids", "attention_mask", "token_type_ids")
    given = [tape.input(name, TensorProto.INT64, TOKENS) for name in names]
    tokens, mask, kinds = (tape.cast(name, TensorProto.INT32) for name in given)
    x, counted = _embeddings(tape, weights, tokens, kinds, mask if lengths else None)
    for layer in range(size.layers):
        with tape.inside(f"encoder/layer.{layer}"):
            x = _layer(tape, weights, x, counted if lengths else mask, approximate)
    tape.output(x, "last_hidden_state", (*TOKENS, size.width))
    return tape.model([(domain, 1) for domain in (DOMAIN, *UNUSED)])


def _embeddings(
    tape: Tape, weights: BertWeights, tokens: str, kinds: str, mask: str | None
) -> tuple[str, str]:
    names = [f"embeddings.{part}_embeddings.weight" for part in ("word", "position", "token_type")]
    names += ["embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"]
    tables = [tape.weight(name, weights[name]) for name in names]
    operands = (tokens, kinds, *tables, *([mask] if mask else []))
    x, counted = tape.ops("EmbedLayerNormalization", 2, *operands, domain=DOMAIN, epsilon=EPSILON)
    return x, counted


def _layer(tape: Tape, weights: BertWeights, x: str, mask: str, approximate: bool) -> str:
    context = _attention(tape, weights, x, mask)
    x = _skip_norm(tape, weights, f"{tape.module}.attention.output", context, x)
    module = f"{tape.module}.intermediate.dense"
    product = tape.op("MatMul", x, _matrix(tape, weights, module))
    bias = tape.weight(f"{module}.bias", weights[f"{module}.bias"])
    kind = "FastGelu" if approximate else "BiasGelu"
    hidden = tape.op(kind, product, bias, domain=DOMAIN)
    return _skip_norm(tape, weights, f"{tape.module}.output", hidden, x)


def _attention(tape: Tape, weights: BertWeights, x: str, mask: str) -> str:
    """Attention with its projections, whose matrices are side by side."""
    modules = [f"{tape.module}.attention.self.{part}" for part in ("query", "key", "value")]
    matrix = np.concatenate([weights[f"{module}.weight"] for module in modules], axis=1)
    bias = np.concatenate([weights[f"{module}.bias"] for module in modules])
    number = tape.module.rpartition(".")[2]
    return tape.op(
        "Attention",
        x,
        tape.weight(f"Attention_{number}_qkv_weight", matrix),
        tape.weight(f"Attention_{number}_qkv_bias", bias),
        mask,
        domain=DOMAIN,
        num_heads=weights.size.heads,
        mask_filter_value=LEAST,
    )


def _skip_norm(tape: Tape, weights: BertWeights, module: str, x: str, skipped: str) -> str:
    """A product, whose bias is added with the residual stream before the norm."""
    product = tape.op("MatMul", x, _matrix(tape, weights, f"{module}.dense"))
    names = [f"{module}.LayerNorm.weight", f"{module}.LayerNorm.bias", f"{module}.dense.bias"]
    operands = [tape.weight(name, weights[name]) for name in names]
    return tape.op(
        "SkipLayerNormalization", product, skipped, *operands, domain=DOMAIN, epsilon=EPSILON
    )


def _matrix(tape: Tape, weights: BertWeights, module: str) -> str:
    name = f"{module}.weight"
    return tape.matrix(name, weights[name])
