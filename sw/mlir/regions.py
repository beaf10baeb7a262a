"""Records as operations with a region, and back: what a record has many of has a line for each.

A field that is a mapping, or a list of records, becomes operations in the region; all others become
attributes.  An operation of the region is named after the field, or if a field takes records of
several kinds, after the kind; ``at`` is the key of a mapping.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import UnionType
from typing import Any, Final, TypeVar, get_args, get_origin

from numpy.typing import NDArray

from celosia.sw.mlir.fields import fail
from celosia.sw.mlir.operation import Attribute, Operation
from celosia.sw.mlir.records import KIND, Arrays, attribute_of, fields_of, hints_of, made, read

__all__ = ["Element", "elements", "operation_of", "record_of"]

_Record = TypeVar("_Record")

_KEY: Final = "at"
_VALUE: Final = "value"


@dataclass(frozen=True)
class Element:
    """What an operation of a region is."""

    field: str
    """The field of the record that it is an element of."""
    value: Any
    """The annotation of the element."""
    key: Any = None
    """The annotation of its key; None: the field is a list."""

    def made(
        self, operation: Operation, arrays: Mapping[str, NDArray[Any]]
    ) -> tuple[object, object]:
        """Key and element of an operation; raises `ValueError` that names its place."""
        values = dict(operation.attributes)
        try:
            key = read(self.key, values.pop(_KEY, None), _KEY, arrays) if self.key else None
            if is_dataclass(self.value):
                assert isinstance(self.value, type)
                return key, made(self.value, values, self.field, arrays)
            if set(values) != {_VALUE}:
                raise ValueError(f"it has {', '.join(values) or 'nothing'}, not {_VALUE}")
            return key, read(self.value, values[_VALUE], self.field, arrays)
        except ValueError as error:
            raise fail(operation, str(error)) from None


def elements(kind: type, name: str, left_out: Collection[str] = ()) -> dict[str, Element]:
    """What may be in the region of a record that is an operation `name`, by operations' names."""
    assert is_dataclass(kind)
    return {
        each: element
        for field in fields(kind)
        if field.name not in left_out
        for each, element in _elements(field.name, hints_of(kind)[field.name], name)
    }


def _elements(field: str, hint: Any, name: str) -> Iterator[tuple[str, Element]]:
    """The operations that elements of a field become: none of a field that is an attribute."""
    origin, arguments = get_origin(hint), get_args(hint)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        yield f"{name}.{field}", Element(field, arguments[1], arguments[0])
    elif origin is tuple and arguments[-1] is Ellipsis:
        hint = arguments[0]
        kinds = get_args(hint) if get_origin(hint) is UnionType else (hint,)
        if all(map(is_dataclass, kinds)):
            for kind in kinds:
                word = field if len(kinds) == 1 else get_args(hints_of(kind)[KIND])[0]
                yield f"{name}.{word}", Element(field, kind)


def operation_of(
    record: object, name: str, arrays: Arrays, left_out: Collection[str] = ()
) -> Operation:
    """A record, but for fields that are `left_out`, as an operation; its arrays join `arrays`."""
    known = elements(type(record), name, left_out)
    inner = {element.field: element for element in known.values()}
    words = {(element.field, element.value): each for each, element in known.items()}
    attributes = dict(fields_of(record, arrays, {*left_out, *inner}))
    region = [
        Operation(name=words[field, kind], attributes=values)
        for field, element in inner.items()
        for kind, values in _values(getattr(record, field), element, arrays)
    ]
    return Operation(name=name, attributes=attributes, regions=(tuple(region),))


def _values(
    value: Any, element: Element, arrays: Arrays
) -> Iterator[tuple[Any, dict[str, Attribute]]]:
    """The attributes of each operation that a field becomes, and the annotation of its element."""
    for key, each in value.items() if element.key else ((None, each) for each in value):
        begin = {_KEY: attribute_of(key, arrays)} if element.key else {}
        if is_dataclass(each):
            yield type(each), {**begin, **dict(fields_of(each, arrays))}
        else:
            yield element.value, {**begin, _VALUE: attribute_of(each, arrays)}


def record_of(
    operation: Operation,
    kind: type[_Record],
    arrays: Mapping[str, NDArray[Any]],
    given: Mapping[str, Any],
) -> _Record:
    """The record of an operation, of which the fields `given` are known.

    Raises `ValueError` that names line and column, and the field that is wrong.
    """
    known = elements(kind, operation.name, given)
    found: dict[str, Any] = {e.field: {} if e.key else [] for e in known.values()}
    for each in (each for region in operation.regions for each in region):
        if each.name not in known:
            raise fail(each, f"it is none of {', '.join(known)}")
        element = known[each.name]
        key, value = element.made(each, arrays)
        if element.key is None:
            found[element.field].append(value)
        elif key in found[element.field]:
            raise fail(each, f"{_KEY}: {key!r} is given twice")
        else:
            found[element.field][key] = value
    for name in operation.attributes:
        if name in found or name in given:
            raise fail(operation, f"{name} is no attribute")
    lists = {name: each if isinstance(each, dict) else tuple(each) for name, each in found.items()}
    try:
        return made(kind, operation.attributes, kind.__name__, arrays, {**lists, **given})
    except ValueError as error:
        raise fail(operation, str(error)) from None
