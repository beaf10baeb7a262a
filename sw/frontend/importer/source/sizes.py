"""The types of a model's inputs and outputs, with a number for each size that has a name."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from onnx import TensorShapeProto, ValueInfoProto

from celosia.isa.config import did_you_mean
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.importer.source.tensors import graph_dtype
from celosia.sw.frontend.nn.operators.operator import TensorType

_WORD: Final = r"(?:\w{1,64}/)?\w{1,64}"
_WORDS: Final = re.compile(_WORD, re.ASCII)
_SIGNS: Final = re.compile(r"[+-]")
_SUM: Final = re.compile(rf"{_WORD}(?:\s*[+-]\s*{_WORD}){{1,8}}", re.ASCII)
"""Sizes that exporters write as sums of others: ``past_sequence_length + sequence_length``."""
_OPEN: Final = -1
"""The number that exporters write for a size that is open."""
_NAMELESS: Final = frozenset({"", "?"})
"""What is no name: two sizes that are called so need not be the same."""

__all__ = ["bound_types", "contradiction", "known_size", "prefixed", "size_name"]


def bound_types(
    inputs: Sequence[ValueInfoProto], sizes: Mapping[str, int]
) -> dict[str, TensorType]:
    """The type of each input.

    A size without a name, as -1 or ``?``, is called by its input and axis: ``x.1``.  Sums of names
    need no number of their own.

    Raises `ImportProblem` for inputs that are no tensors or have no shape, sizes that nobody
    binds, and sizes that are given and that no input has.
    """
    shapes = {value.name: _shape(value) for value in inputs}
    asked = [size for shape in shapes.values() for size in shape if isinstance(size, str)]
    names = dict.fromkeys(name for size in asked for name in _needed(size, sizes))
    for name, size in sizes.items():
        if name not in names:
            known = ", ".join(names) or "none"
            near = did_you_mean(name, names)
            said = f"--dim {name}={size}: no input has this size; there are {known}{near}"
            raise ImportProblem(said)
        if size < 0:
            raise ImportProblem(f"--dim {name}={size}: a size is 0 or more")
    unbound = [f"--dim {name}=N" for name in names if name not in sizes]
    if unbound:
        raise ImportProblem(f"sizes of its inputs are not bound: give {' '.join(unbound)}")
    found = {}
    for value in inputs:
        given = shapes[value.name]
        shape = tuple(_bound(each, sizes) if isinstance(each, str) else each for each in given)
        try:
            if min(shape, default=0) < 0:
                raise ImportProblem(f"its sizes are {shape}")
            found[value.name] = TensorType(graph_dtype(value.type.tensor_type.elem_type), shape)
        except ImportProblem as error:
            raise ImportProblem(f"input {value.name}: {error}") from None
    return found


def _needed(text: str, sizes: Mapping[str, int]) -> list[str]:
    """The names that the size `text` depends on: itself, or those of a sum like ``past + 1``."""
    if text in sizes or not _SUM.fullmatch(text):
        return [text]
    return [word for word in _WORDS.findall(text) if not word.isdigit()]


def _bound(text: str, sizes: Mapping[str, int]) -> int:
    """The number for the size `text`, whose names are all bound."""
    if text in sizes:
        return sizes[text]
    terms = zip(("+", *_SIGNS.findall(text)), _WORDS.findall(text), strict=True)
    return sum(
        (1 if sign == "+" else -1) * (int(word) if word.isdigit() else sizes[word])
        for sign, word in terms
    )


def _shape(value: ValueInfoProto) -> list[int | str]:
    """The sizes of an input, or their names."""
    kind = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not kind.HasField("shape"):
        raise ImportProblem(f"input {value.name} is no tensor with a shape")
    shape: list[int | str] = []
    for axis, dim in enumerate(kind.shape.dim):
        size = known_size(dim)
        if size is not None and size < 0:
            raise ImportProblem(f"input {value.name}: axis {axis} has size {size}")
        shape.append(size_name(value.name, axis, dim) if size is None else size)
    return shape


def size_name(tensor: str, axis: int, dim: TensorShapeProto.Dimension) -> str:
    """What an open size of a tensor is bound by."""
    return f"{tensor}.{axis}" if dim.dim_param in _NAMELESS else dim.dim_param


def prefixed(value: ValueInfoProto, prefix: str) -> ValueInfoProto:
    """An input or output with `prefix`, a word and a slash, before its name and those of sizes."""
    if not prefix:
        return value
    found = ValueInfoProto()
    found.CopyFrom(value)
    found.name = f"{prefix}{value.name}"  # A name that is no UTF-8 is bytes.
    for axis, dim in enumerate(found.type.tensor_type.shape.dim):
        if known_size(dim) is None:
            name = f"{size_name(value.name, axis, dim)}"
            terms = _WORDS.sub(lambda word: _called(word[0], prefix), name)
            dim.dim_param = terms if _SUM.fullmatch(name) else prefix + name
    return found


def _called(word: str, prefix: str) -> str:
    """A term of a sum: numbers have no prefix."""
    return word if word.isdigit() else prefix + word


def known_size(dim: TensorShapeProto.Dimension) -> int | None:
    """The number of a size; None: it is open."""
    return dim.dim_value if dim.HasField("dim_value") and dim.dim_value != _OPEN else None


def contradiction(value: ValueInfoProto, found: TensorType) -> str | None:
    """What the file says about a tensor, where it is not of this type; None if it is."""
    kind = value.type.tensor_type
    if not value.type.HasField("tensor_type"):
        return "no tensor" if value.type.WhichOneof("value") else None
    try:
        dtype = graph_dtype(kind.elem_type) if kind.elem_type else found.dtype
    except ImportProblem:
        return None
    if dtype != found.dtype:
        return dtype
    if not kind.HasField("shape"):
        return None
    dims = [known_size(dim) for dim in kind.shape.dim]
    fits = len(dims) == found.rank and all(
        size in {None, known} for size, known in zip(dims, found.shape, strict=True)
    )
    shown = "x".join("?" if size is None else str(size) for size in dims)
    return None if fits else f"{dtype}[{shown}]"
