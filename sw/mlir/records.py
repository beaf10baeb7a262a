"""Records as attributes and back: fields by their annotations, so that a new field needs no line.

A field that has its default is left out.  Records become dictionaries, tuples lists, enumerations
the names of their members in lower case, sets sorted lists, arrays the names that they have beside
the text.  A mapping is a dictionary, or where its keys are no words, a list of keys and values.  Of
several records that a field may have, each says its ``kind``.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum, IntEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from celosia.sw.mlir.operation import Attribute, Lines

__all__ = ["KIND", "Arrays", "attribute_of", "fields_of", "hints_of", "made", "read"]

Arrays = dict[str, NDArray[Any]]
"""Arrays by the names that texts have for them."""

_Record = TypeVar("_Record")

KIND: Final = "kind"
"""The field that says of which class a record is."""
_NOTHING: Final[Mapping[str, Any]] = {}


def fields_of(
    record: object, arrays: Arrays, left_out: Collection[str] = ()
) -> Iterator[tuple[str, Attribute]]:
    """The fields of a record but for those that have their default; its arrays join `arrays`.

    Those that are `left_out` are not looked at.
    """
    assert is_dataclass(record)
    for field in fields(record):
        if field.name in left_out:
            continue
        given = getattr(record, field.name)
        if field.name == KIND or not _is_default(given, field):
            yield field.name, attribute_of(given, arrays)


def attribute_of(value: object, arrays: Arrays) -> Attribute:
    """A value of a field as an attribute; its arrays join `arrays`."""
    found: Attribute
    match value:
        case bool() | str() | int() | float() | np.generic() | Enum():
            found = _scalar(value)
        case np.ndarray():
            found = _stored(value, arrays)
        case Mapping():
            pairs = [(attribute_of(k, arrays), _mapped(v, arrays)) for k, v in value.items()]
            found = {str(k): v for k, v in pairs} if all(map(_is_word, value)) else tuple(pairs)
        case AbstractSet():
            found = tuple(sorted(map(str, value)))
        case Lines():
            found = value
        case Sequence():
            found = tuple(attribute_of(each, arrays) for each in value)
        case _:
            found = dict(fields_of(value, arrays))
    return found


def _mapped(value: object, arrays: Arrays) -> Attribute:
    """A value of a mapping: its annotation is that of all, so that members of several are ints."""
    return int(value) if isinstance(value, IntEnum) else attribute_of(value, arrays)


def _scalar(value: bool | str | float | np.generic | Enum) -> Attribute:
    if isinstance(value, Enum):
        return value.name.lower()
    return value.item() if isinstance(value, np.generic) else value


def _is_word(key: object) -> bool:
    return isinstance(key, str) and key.isascii() and key.isidentifier()


def made(
    kind: type[_Record],
    values: object,
    path: str,
    arrays: Mapping[str, NDArray[Any]],
    given: Mapping[str, Any] = _NOTHING,
) -> _Record:
    """The record of this class whose fields have these values; `path` is what messages call it.

    Fields that are `given` are as they are there.

    Raises `ValueError` that names the path of a field that is missing, unknown or of another type.
    """
    if not isinstance(values, Mapping):
        raise ValueError(f"{path}: a table is expected, not {values!r}")
    hints, known = hints_of(kind), {field.name: field for field in fields(_dataclass(kind))}
    for name in values:
        if name not in known:
            raise ValueError(f"{path}.{name}: there is no such field; there are {', '.join(known)}")
    for name, field in known.items():
        needed = field.default is MISSING and field.default_factory is MISSING
        if needed and name not in values and name not in given:
            raise ValueError(f"{path}.{name} is missing")
    found = {name: read(hints[name], v, f"{path}.{name}", arrays) for name, v in values.items()}
    return kind(**found, **given)


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """The annotations of the fields of a record."""
    return get_type_hints(kind)


def read(hint: Any, value: object, path: str, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """`value` as a field of this annotation has it.  Raises `ValueError` as `made` does."""
    origin = get_origin(hint)
    if origin is not None:
        reader = _READERS.get(origin) or next(
            reader
            for kind, reader in _READERS.items()
            if isinstance(kind, type) and issubclass(origin, kind)
        )
        return reader(get_args(hint), value, path, arrays)
    if is_dataclass(hint):
        assert isinstance(hint, type)
        return made(hint, value, path, arrays)
    if issubclass(hint, Enum):
        return _member(hint, value, path)
    assert hint in (str, int, bool, float), f"{path}: fields of type {hint} are not read"
    if type(value) is not hint and (hint, type(value)) != (float, int):
        raise ValueError(f"{path}: {value!r} is no {hint.__name__}")
    return value


def _dataclass(kind: type) -> Any:
    assert is_dataclass(kind), f"{kind} is no record"
    return kind


def _is_default(given: object, field: Field[Any]) -> bool:
    if isinstance(given, np.ndarray):
        return False
    factory = field.default_factory
    return bool(given == (field.default if factory is MISSING else factory()))


def _stored(value: NDArray[Any], arrays: Arrays) -> str:
    """The name of an array, which it has together with those that are equal to it."""
    for name, known in arrays.items():
        if (known.dtype, known.shape) == (value.dtype, value.shape) and (
            known is value or known.tobytes() == value.tobytes()
        ):
            return name
    name = f"array {len(arrays)}"
    arrays[name] = value
    return name


def _array(
    hints: tuple[Any, ...], value: object, path: str, arrays: Mapping[str, NDArray[Any]]
) -> NDArray[Any]:
    del hints
    if not isinstance(value, str) or value not in arrays:
        raise ValueError(f"{path}: there is no array {value!r} beside the text")
    return arrays[value]


def _read_literal(
    hints: tuple[Any, ...], value: object, path: str, arrays: Mapping[str, NDArray[Any]]
) -> object:
    del arrays
    if not any(type(value) is type(each) and value == each for each in hints):
        raise ValueError(f"{path}: {value!r} is none of {', '.join(map(repr, hints))}")
    return value


def _read_union(
    hints: tuple[Any, ...], value: object, path: str, arrays: Mapping[str, NDArray[Any]]
) -> object:
    """A value of one of several classes: of several records, it names its kind."""
    hints = tuple(hint for hint in hints if hint is not NoneType)
    if len(hints) == 1:
        return read(hints[0], value, path, arrays)
    known = {get_args(hints_of(hint)[KIND])[0]: hint for hint in hints}
    kind = value.get(KIND) if isinstance(value, Mapping) else None
    if not isinstance(kind, str) or kind not in known:
        raise ValueError(f"{path}.{KIND}: {kind!r} is none of {', '.join(map(repr, known))}")
    return read(known[kind], value, path, arrays)


def _read_set(
    hints: tuple[Any, ...], value: object, path: str, arrays: Mapping[str, NDArray[Any]]
) -> frozenset[Any]:
    return frozenset(_read_tuple((*hints, Ellipsis), value, path, arrays))


def _member(kind: type[Enum], value: object, path: str) -> Enum:
    known = {member.name.lower(): member for member in kind}
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{path}: {value!r} is none of {', '.join(known)}")
    return known[value]


def _read_mapping(
    hints: tuple[Any, ...], value: object, path: str, arrays: Mapping[str, NDArray[Any]]
) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return {
            read(hints[0], name, path, arrays): read(hints[1], each, f"{path}.{name}", arrays)
            for name, each in value.items()
        }
    if not _is_list(value):
        raise ValueError(f"{path}: a table is expected, not {value!r}")
    pairs = _read_tuple((tuple[hints], Ellipsis), value, path, arrays)
    return dict(pairs)


def _read_tuple(
    hints: tuple[Any, ...], value: object, path: str, arrays: Mapping[str, NDArray[Any]]
) -> tuple[Any, ...]:
    if not _is_list(value):
        raise ValueError(f"{path}: a list is expected, not {value!r}")
    assert isinstance(value, Sequence)
    if hints[-1] is Ellipsis:
        hints = (hints[0],) * len(value)
    if len(value) != len(hints):
        raise ValueError(f"{path}: {len(hints)} elements are expected, not {len(value)}")
    return tuple(
        read(hint, each, f"{path}[{i}]", arrays)
        for i, (hint, each) in enumerate(zip(hints, value, strict=True))
    )


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


_READERS: Final[Mapping[Any, Callable[..., Any]]] = {
    Literal: _read_literal,
    UnionType: _read_union,
    Union: _read_union,
    np.ndarray: _array,
    tuple: _read_tuple,
    Mapping: _read_mapping,
    AbstractSet: _read_set,
}
"""What reads values of the annotations that have others in them."""
