"""Activations and softmax of ONNX."""

from typing import Final

import numpy as np

from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.nn.operators.operator import normalized_axis

__all__ = ["ACTIVATIONS"]

ACTIVATIONS: Final = Handlers()

_GELU_FORMS: Final = {"none": "erf", "tanh": "tanh"}


@ACTIVATIONS.of("Relu")
def _relu(call: Call) -> str:
    if call.type(0).is_float:
        return call.op("relu", call[0])
    return call.op("max", call[0], call.scalar(0, call[0]))


@ACTIVATIONS.of("LeakyRelu", "PRelu", "ThresholdedRelu")
def _leaky(call: Call) -> str:
    x, zero = call[0], call.scalar(0, call[0])
    match call.node.op_type:
        case "PRelu":
            below = call.op("mul", x, call[1])
        case "LeakyRelu":
            below = call.op("mul", x, call.scalar(call.attribute("alpha", 0.01), x))
        case _:
            least = call.scalar(call.attribute("alpha", 1.0), x)
            return call.op("where", call.op("less", least, x), x, zero)
    return call.op("where", call.op("less", x, zero), below, x)


@ACTIVATIONS.of("Elu", "Celu", "Selu")
def _elu(call: Call) -> str:
    x, zero, name = call[0], call.scalar(0, call[0]), call.node.op_type
    alpha = call.attribute("alpha", 1.67326319217681884765625 if name == "Selu" else 1.0)
    inside = call.op("div", x, call.scalar(alpha, x)) if name == "Celu" else x
    powers = call.op("sub", call.op("exp", inside), call.scalar(1, x))
    below = call.op("mul", powers, call.scalar(alpha, x))
    found = call.op("where", call.op("less", x, zero), below, x)
    if name == "Selu":
        gamma = call.attribute("gamma", 1.05070102214813232421875)
        found = call.op("mul", found, call.scalar(gamma, x))
    return found


@ACTIVATIONS.of("HardSwish")
def _hard_swish(call: Call) -> str:
    return call.op("hardswish", call[0])


@ACTIVATIONS.of("HardSigmoid")
def _hard_sigmoid(call: Call) -> str:
    x, alpha, beta = call[0], call.attribute("alpha", 0.2), call.attribute("beta", 0.5)
    line = call.op("add", call.op("mul", x, call.scalar(alpha, x)), call.scalar(beta, x))
    return call.op("min", call.op("max", line, call.scalar(0, x)), call.scalar(1, x))


@ACTIVATIONS.of("Softplus", "Softsign", "Mish")
def _soft(call: Call) -> str:
    x, one = call[0], call.scalar(1, call[0])
    if call.node.op_type == "Softsign":
        return call.op("div", x, call.op("add", one, call.op("abs", x)))
    # log(1 + exp(x)), by an exponential that never overflows.
    powers = call.op("exp", call.op("neg", call.op("abs", x)))
    plus = call.op("max", x, call.scalar(0, x))
    plus = call.op("add", plus, call.op("log", call.op("add", one, powers)))
    return plus if call.node.op_type == "Softplus" else call.op("mul", x, call.op("tanh", plus))


@ACTIVATIONS.of("Gelu")
def _gelu(call: Call) -> str:
    form = call.attribute("approximate", "none")
    if form not in _GELU_FORMS:
        raise Refusal(f"its approximation {form!r} is unknown")
    return call.op("gelu", call[0], form=_GELU_FORMS[form])


@ACTIVATIONS.of("Swish")
def _swish(call: Call) -> str:
    return call.op("silu", call[0], alpha=float(call.attribute("alpha", 1.0)))


@ACTIVATIONS.of("Softmax", "LogSoftmax", "Hardmax")
def _softmax(call: Call) -> str:
    x, shape = call[0], call.type(0).shape
    axis = normalized_axis(call.attribute("axis", 1 if call.version < 13 else -1), len(shape))
    flat = call.version < 13 and axis < len(shape) - 1
    if flat:  # Up to opset 12 all axes from this one on are one.
        before = int(np.prod(shape[:axis]))
        x, axis = call.reshape(x, (before, int(np.prod(shape[axis:])))), 1
    match call.node.op_type:
        case "Softmax":
            found = call.op("softmax", x, axis=axis)
        case "LogSoftmax":
            centered = call.op("sub", x, call.op("reduce_max", x, axes=(axis,), keepdims=True))
            powers = call.op("exp", centered)
            sums = call.op("reduce_sum", powers, axes=(axis,), keepdims=True)
            found = call.op("sub", centered, call.op("log", sums))
        case _:
            place = call.op("argmax", x, axis=axis, keepdims=True, last=False)
            kind = call.build.type(x)
            places = np.arange(kind.shape[axis]).reshape([
                -1 if a == axis else 1 for a in range(kind.rank)
            ])
            found = call.op("cast", call.op("equal", place, call.indices(places)), to=kind.dtype)
    return call.reshape(found, shape)
