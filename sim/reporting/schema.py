"""JSON Schema of records, by their declarations; descriptions are the docstrings of their keys."""

import ast
import inspect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from itertools import pairwise
from textwrap import dedent
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from celosia.isa.documents.record import Key, Member, Rule, members

__all__ = ["Schemas", "docs_of", "resolve"]

_PLAIN: Final = {int: "integer", float: "number", bool: "boolean", str: "string", NoneType: "null"}
_Schema = dict[str, Any]


@dataclass
class Schemas:
    """The schemas of records by name, with all that they hold."""

    found: dict[str, _Schema] = field(default_factory=dict)
    _types: dict[str, type] = field(default_factory=dict)

    def document(self, kind: Any) -> _Schema:
        """The schema of a whole document: of a record, or of one that others add keys to."""
        kinds = get_args(kind) or (kind,)
        return self._merged(kinds[0], kinds)

    def of(self, hint: Any) -> _Schema:
        """The schema of a type.  Raises `TypeError` for one that no document has."""
        kind, inner = get_origin(hint), get_args(hint)
        if kind is Annotated:
            schema = self.of(inner[0])
            for mark in hint.__metadata__:
                schema |= mark.keywords if isinstance(mark, Rule) else {}
            return schema
        if hint in _PLAIN:
            return {"type": _PLAIN[hint]}
        if hint in {Any, object}:
            return {}
        if kind is Literal:
            return {"const": inner[0]} if len(inner) == 1 else {"enum": list(inner)}
        if kind in {Union, UnionType}:
            return self._either(inner)
        return self._composed(hint, kind, inner)

    def _composed(self, hint: Any, kind: Any, inner: tuple[Any, ...]) -> _Schema:
        """The schema of what has parts."""
        if isinstance(hint, type) and is_dataclass(hint):
            return self._reference(hint)
        if isinstance(hint, type) and issubclass(hint, Enum):
            return {"enum": [each.value for each in hint]}
        if kind is Counter:
            return {"type": "object", "additionalProperties": {"type": "integer"}}
        if isinstance(kind, type) and issubclass(kind, Mapping):
            return {"type": "object", "additionalProperties": self.of(inner[1])}
        if isinstance(kind, type) and issubclass(kind, Sequence | frozenset | Iterator):
            items = dict.fromkeys(each for each in inner if each is not ...)
            return {"type": "array", "items": self._either(tuple(items))}
        raise TypeError(f"{hint}: is in no document")

    def _either(self, kinds: tuple[Any, ...]) -> _Schema:
        """One of several types, the last of which may be null."""
        schemas = [self.of(each) for each in kinds]
        if len(schemas) == 1:
            return schemas[0]
        if all(isinstance(each.get("type"), str) for each in schemas):
            rules = {name: rule for each in schemas for name, rule in each.items()}
            return rules | {"type": [each["type"] for each in schemas]}
        return {"anyOf": schemas}

    def _merged(self, general: type, kinds: Sequence[type]) -> _Schema:
        """A record, or one of those that have more keys."""
        schema = self._object(general)
        for each in kinds:
            schema["properties"] |= self._object(each)["properties"]
        return schema

    def _reference(self, record: type) -> _Schema:
        name = record.__name__
        if self._types.setdefault(name, record) is not record:
            raise TypeError(f"two records are called {name}")
        if name not in self.found:
            self.found[name] = {}
            self.found[name] |= self._object(record)
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, record: type) -> _Schema:
        properties, required = {}, []
        for name, member, doc in _keys(record):
            properties[name] = self.of(_made(member)) | {"description": doc}
            required += [name] if member.required else []
        return {
            "type": "object",
            "description": _first(inspect.getdoc(record) or ""),
            "properties": properties,
            "required": list(dict.fromkeys(required)),
            "additionalProperties": False,
        }


def resolve(path: str) -> Any:
    """The object of `module:name`."""
    module, name = path.split(":")
    return getattr(import_module(module), name)


def _made(member: Member) -> Any:
    """The type of a key's value, with its rules."""
    if member.make is None:
        return member.hint
    return get_type_hints(member.make, include_extras=True)["return"]


def _keys(record: type) -> Iterator[tuple[str, Member, str]]:
    """Name and meaning of each key; one that stands twice is what the last one says."""
    docs = docs_of(record)
    for member in members(record):
        if member.inline:
            yield from _keys(_bare(_made(member)))
        else:
            yield member.name, member, docs.get(member.attribute, "")


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


@cache
def docs_of(record: type) -> Mapping[str, str]:
    """What docstrings say of the fields of a record and of its properties `Key`, by attribute."""
    docs: dict[str, str] = {}
    for owner in reversed(record.__mro__[:-1]):
        tree = ast.parse(dedent(inspect.getsource(owner)))
        assert isinstance(tree.body[0], ast.ClassDef)
        body = tree.body[0].body
        for node, text in pairwise(body):
            if isinstance(node, ast.AnnAssign) and isinstance(text, ast.Expr):
                assert isinstance(node.target, ast.Name)
                assert isinstance(text.value, ast.Constant)
                docs[node.target.id] = _line(str(text.value.value))
        keys = {name: value for name, value in vars(owner).items() if isinstance(value, Key)}
        docs |= {name: _line(value.__doc__ or "") for name, value in keys.items()}
    return docs


def _line(text: str) -> str:
    return " ".join(text.split())


def _first(text: str) -> str:
    return _line(text.partition("\n\n")[0])
