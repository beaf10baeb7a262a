"""Operators of ONNX on elements."""

from collections.abc import Callable
from typing import Final

import numpy as np
from onnx import TensorProto

from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.importer.source.tensors import HALVES, graph_dtype

__all__ = ["ELEMENTWISE"]

ELEMENTWISE: Final = Handlers()

_SAME: Final = {
    "Abs": "abs",
    "Add": "add",
    "And": "and",
    "BitwiseAnd": "and",
    "BitwiseNot": "not",
    "BitwiseOr": "or",
    "BitwiseXor": "xor",
    "Cos": "cos",
    "Div": "div",
    "Equal": "equal",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "IsNaN": "is_nan",
    "Less": "less",
    "LessOrEqual": "less_equal",
    "Log": "log",
    "Mul": "mul",
    "Neg": "neg",
    "Not": "not",
    "Or": "or",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sin": "sin",
    "Sqrt": "sqrt",
    "Sub": "sub",
    "Tanh": "tanh",
    "Where": "where",
    "Xor": "xor",
}
"""Operators that the float graph has by another name."""


@ELEMENTWISE.of(*_SAME)
def _same(call: Call) -> str:
    return call.op(_SAME[call.node.op_type], *call.all())


@ELEMENTWISE.of("Greater", "GreaterOrEqual")
def _greater(call: Call) -> str:
    op = "less" if call.node.op_type == "Greater" else "less_equal"
    return call.op(op, call[1], call[0])


@ELEMENTWISE.of("Max", "Min", "Sum", "Mean")
def _fold(call: Call) -> str:
    op = {"Max": "max", "Min": "min"}.get(call.node.op_type, "add")
    first, *others = call.all()
    found = first
    for other in others:
        found = call.op(op, found, other)
    if call.node.op_type == "Mean":
        found = call.op("div", found, call.scalar(1 + len(others), found))
    return found


@ELEMENTWISE.of("Pow")
def _pow(call: Call) -> str:
    base, exponent = call[0], call[1]
    kind, other = call.type(0), call.type(1)
    if kind.dtype == other.dtype:
        return call.op("pow", base, exponent)
    if kind.is_float or not other.is_float:
        return call.op("pow", base, call.op("cast", exponent, to=kind.dtype))
    wide = [call.op("cast", each, to="float64") for each in (base, exponent)]
    return call.op("cast", call.op("pow", *wide), to=kind.dtype)


@ELEMENTWISE.of("Mod")
def _mod(call: Call) -> str:
    return call.op("mod", call[0], call[1], truncate=bool(call.attribute("fmod", 0)))


@ELEMENTWISE.of("BitShift", but="signed integers to the right")
def _bit_shift(call: Call) -> str:
    op = {"LEFT": "mul", "RIGHT": "div"}[call.attribute("direction")]
    if op == "div" and not call.type(0).dtype.startswith("uint"):
        raise Refusal(f"shifts of {call.type(0).dtype} to the right are not supported")
    return call.op(op, call[0], call.op("pow", call.scalar(2, call[1]), call[1]))


@ELEMENTWISE.of("Reciprocal")
def _reciprocal(call: Call) -> str:
    return call.op("div", call.scalar(1, call[0]), call[0])


@ELEMENTWISE.of("Ceil")
def _ceil(call: Call) -> str:
    return call.op("neg", call.op("floor", call.op("neg", call[0])))


@ELEMENTWISE.of("Sign")
def _sign(call: Call) -> str:
    x, zero, one = call[0], call.scalar(0, call[0]), call.scalar(1, call[0])
    if call.type(0).dtype.startswith("uint"):
        return call.op("min", x, one)
    below = call.op("where", call.op("less", x, zero), call.scalar(-1, x), x)
    return call.op("where", call.op("less", zero, x), one, below)


@ELEMENTWISE.of("IsInf")
def _is_inf(call: Call) -> str:
    x = call[0]
    above, below = (bool(call.attribute(f"detect_{n}", 1)) for n in ("positive", "negative"))
    if above and below:
        return call.op("equal", call.op("abs", x), call.scalar(np.inf, x))
    if above or below:
        return call.op("equal", x, call.scalar(np.inf if above else -np.inf, x))
    return call.op("less", x, x)


@ELEMENTWISE.of("Tan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh")
def _hyperbolic(call: Call) -> str:
    x, one, half = call[0], call.scalar(1, call[0]), call.scalar(0.5, call[0])

    def op(name: str) -> Callable[..., str]:
        return lambda *operands: call.op(name, *operands)

    add, sub, mul, div, exp, log, sqrt = map(op, ("add", "sub", "mul", "div", "exp", "log", "sqrt"))
    match call.node.op_type:
        case "Tan":
            return div(call.op("sin", x), call.op("cos", x))
        case "Sinh":
            return mul(half, sub(exp(x), exp(call.op("neg", x))))
        case "Cosh":
            return mul(half, add(exp(x), exp(call.op("neg", x))))
        case "Asinh":
            # Odd: far below 0, the sum itself would cancel to 0.
            above = log(add(call.op("abs", x), sqrt(add(mul(x, x), one))))
            below = call.op("less", x, call.scalar(0, x))
            return call.op("where", below, call.op("neg", above), above)
        case "Acosh":
            return log(add(x, sqrt(sub(mul(x, x), one))))
        case _:
            return mul(half, log(div(add(one, x), sub(one, x))))


@ELEMENTWISE.of("Clip")
def _clip(call: Call) -> str:
    found = call[0]
    for index, op in ((1, "max"), (2, "min")):
        bound = call.optional(index)
        if bound is not None:
            found = call.op(op, found, bound)
    return found


@ELEMENTWISE.of("Cast", but="strings, complex numbers, numbers of 8 or fewer bits but int8")
def _cast(call: Call) -> str:
    call.ignore("saturate", "round_mode")  # They are for numbers of 8 bits, which are refused.
    return _as_type(call, call[0], call.attribute("to"))


@ELEMENTWISE.of("CastLike")
def _cast_like(call: Call) -> str:
    call.ignore("saturate", "round_mode")
    # What the second operand was in the file is gone if it had 16 bits: then nothing is rounded.
    return call.op("cast", call[0], to=call.type(1).dtype)


def _as_type(call: Call, x: str, to: int) -> str:
    if to == TensorProto.STRING:
        raise Refusal("strings are not supported")
    found = call.op("cast", x, to=graph_dtype(to))
    return call.op("round_float", found, to=HALVES[to]) if to in HALVES else found


@ELEMENTWISE.of("Identity")
def _identity(call: Call) -> str:
    return call[0]


@ELEMENTWISE.of("Dropout", but="in training mode")
def _dropout(call: Call) -> tuple[str, str]:
    call.ignore("seed", "ratio")
    call.ignore_operands(1)
    if call.optional(2) is not None and call.known(2, "training mode").any():
        raise Refusal("it is in training mode")
    mask = call.op("broadcast", call.build.constant(np.bool_(True)), shape=call.type(0).shape)
    return call[0], mask
