"""Operators of ONNX along axes."""

from typing import Final

from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.nn.operators.operator import normalized_axes, normalized_axis

__all__ = ["REDUCTIONS"]

REDUCTIONS: Final = Handlers()

_AXES_BECAME_OPERANDS: Final = {"ReduceSum": 13}
"""The opset in which axes became an operand; 18 for all others."""


def _axes(call: Call, name: str) -> tuple[int, ...]:
    """The axes of a reduction, which are all if it names none."""
    rank = call.type(0).rank
    if call.version < _AXES_BECAME_OPERANDS.get(name, 18):
        axes = call.attribute("axes", None)
    else:
        axes = None if call.optional(1) is None else call.ints(1, "axes")
    nothing = bool(call.attribute("noop_with_empty_axes", 0))
    if not axes:
        return () if nothing else tuple(range(rank))
    return normalized_axes(axes, rank)


_PLAIN: Final = {
    "ReduceSum": "reduce_sum",
    "ReduceMean": "reduce_mean",
    "ReduceMax": "reduce_max",
    "ReduceMin": "reduce_min",
    "ReduceProd": "reduce_prod",
}
_COMPOSED: Final = ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")


@REDUCTIONS.of(*_PLAIN, *_COMPOSED, but="axes that the model computes, means of integers")
def _reduce(call: Call) -> str:
    name, x, dtype = call.node.op_type, call[0], call.type(0).dtype
    axes, keep = _axes(call, name), bool(call.attribute("keepdims", 1))

    def total(source: str) -> str:
        return call.op("reduce_sum", source, axes=axes, keepdims=keep)

    match name:
        case "ReduceL1":
            return total(call.op("abs", x))
        case "ReduceSumSquare":
            return total(call.op("mul", x, x))
        case "ReduceL2":
            sums = call.op("cast", total(call.op("mul", x, x)), to=_wide(dtype))
            return call.op("cast", call.op("sqrt", sums), to=dtype)
        case "ReduceLogSum":
            sums = call.op("cast", total(x), to=_wide(dtype))
            return call.op("cast", call.op("log", sums), to=dtype)
        case "ReduceLogSumExp":
            return _log_sum_exp(call, axes, keep)
        case "ReduceMean" if not call.type(0).is_float:
            raise Refusal(f"the mean of {dtype} is not supported")
        case "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceMean" | "ReduceSum":
            return call.op(_PLAIN[name], x, axes=axes, keepdims=keep)
    raise AssertionError(name)


def _wide(dtype: str) -> str:
    return dtype if dtype.startswith("float") else "float64"


def _log_sum_exp(call: Call, axes: tuple[int, ...], keep: bool) -> str:
    x = call.op("cast", call[0], to=_wide(call.type(0).dtype))
    highest = call.op("reduce_max", x, axes=axes, keepdims=True)
    powers = call.op("exp", call.op("sub", x, highest))
    sums = call.op("reduce_sum", powers, axes=axes, keepdims=True)
    found = call.op("add", call.op("log", sums), highest)
    shape = call.build.type(found).shape
    if not keep:
        shape = tuple(size for axis, size in enumerate(shape) if axis not in axes)
    return call.op("cast", call.reshape(found, shape), to=call.type(0).dtype)


@REDUCTIONS.of("ArgMax", "ArgMin")
def _arg(call: Call) -> str:
    x = call[0]
    if call.node.op_type == "ArgMin":
        # The complement of an integer turns the order around and never overflows.
        x = call.op("neg" if call.type(0).is_float else "not", x)
    return call.op(
        "argmax",
        x,
        axis=normalized_axis(call.attribute("axis", 0), call.type(0).rank),
        keepdims=bool(call.attribute("keepdims", 1)),
        last=bool(call.attribute("select_last_index", 0)),
    )


@REDUCTIONS.of("CumSum", but="an axis that the model computes")
def _cumsum(call: Call) -> str:
    axis = int(call.known(1, "axis").reshape(()))
    return call.op(
        "cumsum",
        call[0],
        axis=normalized_axis(axis, call.type(0).rank),
        exclusive=bool(call.attribute("exclusive", 0)),
        reverse=bool(call.attribute("reverse", 0)),
    )
