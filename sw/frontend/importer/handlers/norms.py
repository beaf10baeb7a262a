"""Normalizations of ONNX."""

from math import prod
from typing import Final

from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.nn.operators.operator import expect, normalized_axis

__all__ = ["NORMS"]

NORMS: Final = Handlers()

_EPSILON: Final = 1e-5


@NORMS.of("LayerNormalization")
def _layer_normalization(call: Call) -> list[str | None]:
    axis = normalized_axis(call.attribute("axis", -1), call.type(0).rank)
    epsilon = float(call.attribute("epsilon", _EPSILON))
    call.ignore("stash_type")
    x = call[0]
    beta = () if call.optional(2) is None else (call[2],)
    found: list[str | None] = [call.op("layernorm", x, call[1], *beta, axis=axis, epsilon=epsilon)]
    if call.wants(1) or call.wants(2):
        axes = tuple(range(axis, call.type(0).rank))
        mean = call.op("reduce_mean", x, axes=axes, keepdims=True)
        centered = call.op("sub", x, mean)
        square = call.op("mul", centered, centered)
        variance = call.op("reduce_mean", square, axes=axes, keepdims=True)
        deviation = call.op("sqrt", call.op("add", variance, call.scalar(epsilon, x)))
        found += [mean, call.op("div", call.scalar(1, x), deviation)]
    return found


@NORMS.of("RMSNormalization", "SimplifiedLayerNormalization")
def _rms_normalization(call: Call) -> str:
    axis = normalized_axis(call.attribute("axis", -1), call.type(0).rank)
    call.ignore("stash_type")
    epsilon = float(call.attribute("epsilon", _EPSILON))
    return call.op("rmsnorm", call[0], call[1], axis=axis, epsilon=epsilon)


def _ones(call: Call, like: str, size: int) -> str:
    """A row of ones."""
    return call.op("broadcast", call.scalar(1, like), shape=(size,))


@NORMS.of("BatchNormalization", but="in training mode")
def _batch_normalization(call: Call) -> str:
    if call.attribute("training_mode", 0):
        raise Refusal("it is in training mode")
    call.ignore("momentum", "spatial")
    x, rank = call[0], call.type(0).rank
    epsilon = call.attribute("epsilon", _EPSILON)
    gamma, beta, mean, variance = (
        call.reshape(call[index], (call.type(index).size, *(1,) * (rank - 2)))
        for index in range(1, 5)
    )
    deviation = call.op("sqrt", call.op("add", variance, call.scalar(epsilon, variance)))
    factor = call.op("div", gamma, deviation)
    addend = call.op("sub", beta, call.op("mul", mean, factor))
    return call.op("add", call.op("mul", x, factor), addend)


@NORMS.of("InstanceNormalization", "GroupNormalization")
def _group_normalization(call: Call) -> str:
    x, shape = call[0], call.type(0).shape
    expect(len(shape) > 2, f"{call.type(0)} is no image")
    call.ignore("stash_type")
    instance = call.node.op_type == "InstanceNormalization"
    groups = shape[1] if instance else call.attribute("num_groups")
    epsilon = float(call.attribute("epsilon", _EPSILON))
    expect(groups > 0 and shape[1] % groups == 0, f"{shape[1]} channels are not {groups} groups")
    each = prod(shape[1:]) // groups
    rows = call.reshape(x, (shape[0], groups, each))
    one = _ones(call, x, each)
    found = call.reshape(call.op("layernorm", rows, one, axis=2, epsilon=epsilon), shape)
    for index, op in ((1, "mul"), (2, "add")):
        values = call[index]
        if call.type(index).size == groups != shape[1]:  # One for each group, before opset 21.
            values = call.op(
                "broadcast", call.reshape(values, (groups, 1)), shape=(groups, shape[1] // groups)
            )
        values = call.reshape(values, (shape[1], *(1,) * (len(shape) - 2)))
        found = call.op(op, found, values)
    return found


@NORMS.of("LpNormalization")
def _lp_normalization(call: Call) -> str:
    x, power = call[0], call.attribute("p", 2)
    axis = normalized_axis(call.attribute("axis", -1), call.type(0).rank)
    terms = call.op("abs", x) if power == 1 else call.op("mul", x, x)
    length = call.op("reduce_sum", terms, axes=(axis,), keepdims=True)
    length = length if power == 1 else call.op("sqrt", length)
    # A row of zeros stays one.
    zero = call.op("equal", length, call.scalar(0, length))
    return call.op("div", x, call.op("where", zero, call.scalar(1, x), length))
