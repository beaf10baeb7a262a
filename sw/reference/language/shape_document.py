"""The sizes of a language model as they stand in files.

A model whose layers are alike is written as it has been since the first release, with one number
for all of them; another has a list of layers.
"""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Final

from celosia.sw.reference.language.shape import LayerShape, LlamaShape

__all__ = ["read_shape", "shape_document"]

_LAYER: Final = tuple(each.name for each in fields(LayerShape))
_MODEL: Final = tuple(each.name for each in fields(LlamaShape))
_ALIKE: Final = (*_MODEL, "heads", "key_heads", "hidden")
_MOST_LAYERS: Final = 1024
"""The most layers that a file may have."""


def shape_document(shape: LlamaShape) -> dict[str, Any]:
    """`shape` as JSON has it."""
    first = shape.layers[0]
    if len(set(shape.layers)) > 1 or first.query_width != shape.width:
        return {**asdict(shape), "layers": [asdict(layer) for layer in shape.layers]}
    return {
        "vocabulary": shape.vocabulary,
        "layers": len(shape.layers),
        "width": shape.width,
        "heads": first.heads,
        "key_heads": first.key_heads,
        "hidden": first.hidden,
        "context": shape.context,
    }


def read_shape(document: object) -> LlamaShape:
    """The shape that `shape_document` wrote.

    Raises `ValueError` for another document, and for sizes that do not fit each other.
    """
    if not isinstance(document, dict):
        raise ValueError(f"shape {document!r}: is no object")
    layers = document.get("layers")
    if not isinstance(layers, list):
        sizes = _numbers("shape", document, _ALIKE)
        return _model(sizes, (_alike(sizes),) * _count(sizes["layers"]))
    sizes = _numbers("shape", {**document, "layers": _count(len(layers))}, _MODEL)
    return _model(sizes, tuple(_layer(index, each) for index, each in enumerate(layers)))


def _model(sizes: Mapping[str, int], layers: tuple[LayerShape, ...]) -> LlamaShape:
    return LlamaShape(**{name: sizes[name] for name in _MODEL if name != "layers"}, layers=layers)


def _alike(sizes: Mapping[str, int]) -> LayerShape:
    """The one layer of which there are several: its heads have the model's width."""
    heads, width = sizes["heads"], sizes["width"]
    if heads < 1:
        raise ValueError(f"heads: {heads} is not positive")
    if width % heads:
        raise ValueError(f"heads: {heads} do not divide a width of {width}")
    return LayerShape(
        heads=heads, key_heads=sizes["key_heads"], head_width=width // heads, hidden=sizes["hidden"]
    )


def _layer(index: int, document: object) -> LayerShape:
    """A layer of the list."""
    try:
        if not isinstance(document, dict):
            raise ValueError(f"{document!r} is no object")
        return LayerShape(**_numbers("sizes", document, _LAYER))
    except ValueError as error:
        raise ValueError(f"layer {index}: {error}") from None


def _count(layers: int) -> int:
    """The number of layers, if a file may have so many."""
    if not 1 <= layers <= _MOST_LAYERS:
        raise ValueError(f"layers: {layers} is not in 1..{_MOST_LAYERS}")
    return layers


def _numbers(what: str, document: dict[str, Any], names: tuple[str, ...]) -> dict[str, int]:
    """The document's entries, which are whole numbers of these names."""
    whole = all(type(size) is int for size in document.values())
    if not whole or document.keys() != set(names):
        raise ValueError(
            f"{what} {document!r}: is not whole numbers for {', '.join(sorted(names))}"
        )
    return document
