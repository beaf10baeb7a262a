"""Operators on elements: of one tensor, or of several that broadcast to one shape."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

import numpy as np

from celosia.sw.frontend.nn.operators.operator import (
    BOOL,
    FLOATS,
    INTEGERS,
    NUMBERS,
    TYPES,
    Array,
    Attributes,
    Kind,
    Operator,
    Reach,
    TensorType,
    always,
    broadcast_shapes,
    expect,
    same_types,
)
from celosia.sw.reference.encoder import erf

__all__ = ["ELEMENTWISE"]

_SIGNED: Final = (*FLOATS, "int8", "int16", "int32", "int64")


def _each(
    name: str,
    compute: Callable[..., Array],
    allowed: Sequence[str],
    doc: str,
    *,
    operands: int = 1,
    result: str | None = None,
    bound: Callable[[Sequence[float]], float] | None = None,
    written: Literal["middle", "around"] | None = None,
    neutral: float | None = None,
    commutes: bool = False,
) -> Operator:
    """An operator without attributes on operands of one type, which `result` has if it is None."""

    def infer(types: Sequence[TensorType], _: Attributes) -> TensorType:
        kind = same_types(types, allowed)
        return TensorType(result or kind, broadcast_shapes(types))

    return Operator(
        name=name,
        doc=doc,
        least=operands,
        most=operands,
        infer=infer,
        compute=lambda values, _: compute(*values),
        reach=Reach.ELEMENT,
        bound=bound,
        written=written,
        neutral=neutral,
        commutes=commutes,
    )


_pair: Final = partial(_each, operands=2)


def _product(least: Sequence[float]) -> float:
    return 0.0 if min(least) >= 0 else -np.inf


def _erf(x: Array) -> Array:
    return erf(x.astype(np.float32)).astype(x.dtype)


def sigmoid(x: Array) -> Array:
    """The logistic function by an exponential that never overflows."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small).astype(x.dtype) / (1 + small)


def _divide(a: Array, b: Array) -> Array:
    """Floats by division, integers by truncation; an integer over 0 is 0, as NumPy has it."""
    if a.dtype.kind == "f":
        return a / b
    quotient = a // b
    if a.dtype.kind == "i":
        inexact = (quotient * b != a) & (b != 0)
        quotient = quotient + (inexact & ((a < 0) != (b < 0)))
    return quotient.astype(a.dtype)


def _power(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.power(a, b)
    # NumPy refuses negative exponents of integers: these results are 1, -1 or cut to 0.
    positive = np.power(a, np.maximum(b, 0))
    negative = np.where(np.abs(a) == 1, np.power(a, np.abs(b)), 0)
    return np.where(b < 0, negative, positive).astype(a.dtype)


def _where(types: Sequence[TensorType], _: Attributes) -> TensorType:
    expect(types[0].dtype == "bool", f"its condition is {types[0].dtype}, not bool")
    return TensorType(same_types(types[1:], TYPES), broadcast_shapes(types))


def _cast_type(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    expect(attributes["to"] in TYPES, f"to: {attributes['to']!r} is none of {', '.join(TYPES)}")
    return TensorType(attributes["to"], types[0].shape)


def _round_type(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    known = tuple(_ROUNDED)
    expect(attributes["to"] in known, f"to: {attributes['to']!r} is none of {', '.join(known)}")
    same_types(types, ("float32",))
    return types[0]


def _to_half(x: Array) -> Array:
    return x.astype(np.float16).astype(np.float32)


def _to_bfloat(x: Array) -> Array:
    """The nearest numbers of 8 significant bits, ties to even."""
    bits = np.ascontiguousarray(x).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32)
    return np.where(np.isnan(x), x, rounded.view(np.float32).reshape(x.shape))


_ROUNDED: Final = {"float16": _to_half, "bfloat16": _to_bfloat}


def _round_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    return _ROUNDED[attributes["to"]](values[0])


def _mod_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    return (np.fmod if attributes["truncate"] else np.mod)(values[0], values[1])


def _mod_type(types: Sequence[TensorType], _: Attributes) -> TensorType:
    return TensorType(same_types(types, NUMBERS), broadcast_shapes(types))


def _cast_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    source, to = values[0], np.dtype(attributes["to"])
    if source.dtype.kind == "f" and to.kind == "u":
        # What does not fit is taken modulo, as from a signed integer, on every machine alike.
        return source.astype(np.int64).astype(to)
    return source.astype(to)


_LOGIC: Final = (*BOOL, *INTEGERS)

ELEMENTWISE: Final = (
    _each("abs", np.abs, NUMBERS, "The absolute value of each element.", bound=lambda _: 0.0),
    _each("cos", np.cos, FLOATS, "The cosine of each element."),
    _each(
        "erf",
        _erf,
        FLOATS,
        "The error function, to four units of float32's last place.",
        bound=lambda _: -1.0,
        written="middle",
    ),
    _each(
        "exp",
        np.exp,
        FLOATS,
        "The exponential of each element.",
        written="middle",
        bound=lambda _: 0.0,
    ),
    _each("floor", np.floor, FLOATS, "The next integer below each element."),
    _each("is_nan", np.isnan, FLOATS, "Whether each element is not a number.", result="bool"),
    _each("log", np.log, FLOATS, "The natural logarithm of each element."),
    _each("neg", np.negative, _SIGNED, "Each element times -1.", written="around"),
    _each("not", np.invert, _LOGIC, "The complement of each element's bits, or of a bool."),
    _each("round", np.rint, FLOATS, "The nearest integer to each element, ties to even."),
    _each("sigmoid", sigmoid, FLOATS, "1 / (1 + exp(-a)).", written="middle", bound=lambda _: 0.0),
    _each("sin", np.sin, FLOATS, "The sine of each element."),
    _each("sqrt", np.sqrt, FLOATS, "The square root of each element.", bound=lambda _: 0.0),
    _each(
        "tanh",
        np.tanh,
        FLOATS,
        "The hyperbolic tangent of each element.",
        bound=lambda _: -1.0,
        written="middle",
    ),
    _pair(
        "add",
        np.add,
        NUMBERS,
        "a + b; integers wrap.",
        written="around",
        bound=sum,
        neutral=0,
        commutes=True,
    ),
    _pair("and", np.bitwise_and, _LOGIC, "a and b, bit by bit."),
    _pair(
        "div",
        _divide,
        NUMBERS,
        "a / b; integers are truncated.",
        written="around",
        bound=_product,
        neutral=1,
    ),
    _pair("equal", np.equal, TYPES, "Whether a = b.", result="bool"),
    _pair("less", np.less, NUMBERS, "Whether a < b.", result="bool"),
    _pair("less_equal", np.less_equal, NUMBERS, "Whether a <= b.", result="bool"),
    _pair(
        "max",
        np.maximum,
        NUMBERS,
        "The larger of a and b; NaN if one is.",
        written="middle",
        bound=max,
    ),
    _pair(
        "min",
        np.minimum,
        NUMBERS,
        "The smaller of a and b; NaN if one is.",
        written="middle",
        bound=min,
    ),
    _pair(
        "mul",
        np.multiply,
        NUMBERS,
        "a * b; integers wrap.",
        written="around",
        bound=_product,
        neutral=1,
        commutes=True,
    ),
    _pair("or", np.bitwise_or, _LOGIC, "a or b, bit by bit."),
    _pair(
        "pow",
        _power,
        NUMBERS,
        "a to the power of b; integers are truncated.",
        written="around",
        bound=lambda least: _product(least[:1]),
    ),
    _pair("sub", np.subtract, NUMBERS, "a - b; integers wrap.", written="around", neutral=0),
    _pair("xor", np.bitwise_xor, _LOGIC, "a or b but not both, bit by bit."),
    Operator(
        name="mod",
        doc="The rest of a / b, with the sign of a (`truncate`) or of b.",
        least=2,
        most=2,
        attributes={"truncate": Kind.BOOL},
        infer=_mod_type,
        compute=_mod_run,
        reach=Reach.ELEMENT,
    ),
    Operator(
        name="where",
        doc="b where a holds, else c.",
        least=3,
        most=3,
        infer=_where,
        compute=lambda values, _: np.where(*values),
        reach=Reach.ELEMENT,
    ),
    Operator(
        name="cast",
        doc="Each element as type `to`; floats are truncated to integers.",
        attributes={"to": Kind.TEXT},
        infer=_cast_type,
        compute=_cast_run,
        reach=Reach.ELEMENT,
        idle=always,
    ),
    Operator(
        name="round_float",
        doc="The nearest number that format `to` (float16, bfloat16) has, ties to even.",
        attributes={"to": Kind.TEXT},
        infer=_round_type,
        compute=_round_run,
        reach=Reach.ELEMENT,
    ),
)
"""Operators on elements."""
