"""Operators that ONNX Runtime's optimizer writes: norms, activations, products with additions."""

from typing import Final

import numpy as np

from celosia.sw.frontend.importer.handlers.norms import NORMS
from celosia.sw.frontend.importer.handlers.products import matmul, swapped
from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call

__all__ = ["FUSED"]

FUSED: Final = Handlers()

_EPSILON: Final = 1e-12
_QUICK: Final = 1.702


@FUSED.of("Gelu", "BiasGelu", "FastGelu")
def _gelu(call: Call) -> str:
    x = call[0]
    if call.optional(1) is not None:
        x = call.op("add", x, call[1])
    return call.op("gelu", x, form="tanh" if call.node.op_type == "FastGelu" else "erf")


@FUSED.of("QuickGelu")
def _quick_gelu(call: Call) -> str:
    return call.op("silu", call[0], alpha=float(call.attribute("alpha", _QUICK)))


@FUSED.of("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def _skip_layer_normalization(call: Call) -> list[str | None]:
    simplified = call.node.op_type == "SkipSimplifiedLayerNormalization"
    total = call.op("add", call[0], call[1])
    bias = call.optional(3 if simplified else 4)
    if bias is not None:
        total = call.op("add", total, bias)
    attributes = {
        "axis": call.build.type(total).rank - 1,
        "epsilon": float(call.attribute("epsilon", _EPSILON)),
    }
    if simplified:
        found = call.op("rmsnorm", total, call[2], **attributes)
    else:
        beta = () if call.optional(3) is None else (call[3],)
        found = call.op("layernorm", total, call[2], *beta, **attributes)
    return [found, None, None, total]


@FUSED.of("SimplifiedLayerNormalization")
def _simplified_layer_normalization(call: Call) -> str | list[str | None]:
    found = NORMS["SimplifiedLayerNormalization"](call)
    return found if isinstance(found, str) else list(found)


@FUSED.of("EmbedLayerNormalization")
def _embed_layer_normalization(call: Call) -> list[str | None]:
    ids = call[0]
    batch, rows = call.type(0).shape
    words = call.op("gather", call[2], ids, axis=0)
    places = call.optional(8) or call.indices([range(rows)])
    total = call.op("add", words, call.op("gather", call[3], places, axis=0))
    if call.optional(1) is not None:
        total = call.op("add", total, call.op("gather", call[4], call[1], axis=0))
    epsilon = float(call.attribute("epsilon", _EPSILON))
    call.ignore("mask_index_type")
    call.ignore_operands(4, 7)  # Segments need not be there, nor masks be asked for.
    found = call.op("layernorm", total, call[5], call[6], axis=2, epsilon=epsilon)
    lengths: str | None = None
    if call.optional(7) is not None and call.wants(1):
        lengths = call.op("reduce_sum", call[7], axes=(1,), keepdims=False)
    elif call.wants(1):
        lengths = call.op("broadcast", call.build.constant(np.int32(0)), shape=(batch,))
    return [found, lengths, total]


@FUSED.of("FusedMatMul", "TransposeMatMul")
def _fused_matmul(call: Call) -> str:
    a = _turned(call, call[0], call.attribute("transBatchA", 0), call.attribute("transA", 0))
    b = _turned(call, call[1], call.attribute("transBatchB", 0), call.attribute("transB", 0))
    found, alpha = matmul(call, a, b), call.attribute("alpha", 1.0)
    return found if alpha == 1 else call.op("mul", found, call.scalar(alpha, found))


def _turned(call: Call, x: str, batches: int, matrices: int) -> str:
    """An operand of a product whose first axis is that of rows, or whose matrices are turned."""
    rank = call.build.type(x).rank
    if batches and rank > 2:
        x = call.op("transpose", x, permutation=(*range(1, rank - 1), 0, rank - 1))
    return swapped(call, x) if matrices else x


@FUSED.of("BiasAdd")
def _bias_add(call: Call) -> str:
    return call.op("add", call.op("add", call[0], call[1]), call[2])
