"""Attributes between our operations and xDSL's, exactly: doubles keep every bit."""

from collections.abc import Mapping

from xdsl.dialects import builtin
from xdsl.ir import Attribute as Foreign

from celosia.sw.mlir.operation import Attribute

__all__ = ["from_foreign", "to_foreign"]

_BOOL = builtin.IntegerType(1)


def to_foreign(value: Attribute) -> Foreign:
    """The attribute as xDSL has it: i64, f64, i1, strings, arrays and dictionaries."""
    match value:
        case bool():
            return builtin.IntegerAttr(int(value), _BOOL)
        case int():
            return builtin.IntegerAttr(value, 64)
        case float():
            return builtin.FloatAttr(value, 64)
        case str():
            return builtin.StringAttr(value) if value.isascii() else builtin.BytesAttr(_utf8(value))
        case Mapping():
            return builtin.DictionaryAttr({name: to_foreign(each) for name, each in value.items()})
        case _:
            return builtin.ArrayAttr([to_foreign(each) for each in value])


def from_foreign(value: Foreign) -> Attribute:
    """The attribute that xDSL has; raises `ValueError` for a kind that graphs do not use."""
    match value:
        case builtin.IntegerAttr(type=kind) if kind == _BOOL:
            return bool(value.value.data)
        case builtin.IntegerAttr(type=builtin.IntegerType()):
            return value.value.data
        case builtin.FloatAttr(type=builtin.Float64Type()):
            return value.value.data
        case builtin.StringAttr() | builtin.BytesAttr():
            return value.data if isinstance(value.data, str) else value.data.decode()
        case builtin.ArrayAttr():
            return tuple(from_foreign(each) for each in value.data)
        case builtin.DictionaryAttr():
            return {name: from_foreign(each) for name, each in value.data.items()}
        case _:
            raise ValueError(f"{value} is no attribute that graphs have")


def _utf8(text: str) -> bytes:
    return text.encode()
