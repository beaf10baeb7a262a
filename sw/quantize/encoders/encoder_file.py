"""Quantized encoders as files: formats, integers of products, and norms, for any texts."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from celosia.isa.functions.table import ACTIVATIONS
from celosia.sw.frontend.nn.operators.operator import Array, expect
from celosia.sw.quantize.curves import Computed
from celosia.sw.quantize.encoders.encoder import QuantizedEncoder, Tables
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError, SavedFile, read_saved
from celosia.sw.quantize.graphs.formats import Formats
from celosia.sw.quantize.linear import IntegerLinear
from celosia.sw.reference.encoder import EncoderShape, Norm

__all__ = ["FORMAT", "load_encoder", "save_encoder"]

FORMAT: Final = "celosia.encoder/3"
"""What the file calls itself: another number is another layout."""

_LEAST_STEP, _MOST_STEP = 1e-30, 1e30
"""Steps beyond are no float32, or their squares are not."""
_TYPES: Final = {
    "wide": ("int16", -32768, 32767),
    "heads": ("int8", -128, 127),
    "small": ("int8", -128, 127),
}
_UNSIGNED: Final = ("uint8", 0, 255)
"""What is behind a curve."""


def save_encoder(model: QuantizedEncoder, file: BinaryIO) -> None:
    """Write `model`."""
    saved, formats = SavedFile(), model.formats

    def norm(found: Norm) -> list[str]:
        return [saved.store(found.gamma), saved.store(found.beta)]

    document = {
        "format": FORMAT,
        "shape": asdict(model.shape),
        "norm": norm(model.norm),
        "norms": [[norm(behind), norm(end)] for behind, end in model.norms],
        "formats": saved.store_formats(formats.forms),
        "products": {
            name: [saved.store(part) for part in (found.weights, found.bias, found.steps)]
            for name, found in formats.integers.items()
        },
        "curves": {name: [each.function, each.alpha] for name, each in formats.curves.items()},
        "tables": model.tables
        and [saved.store(table) for table in (model.tables.words, model.tables.positions)],
    }
    saved.write(document, file)


def load_encoder(path: Path) -> QuantizedEncoder:
    """The encoder in a file.

    Raises `PlanFileError` that names the file for one that is no encoder, is not whole, or has
    another format, and for numbers with which no encoder can be computed.
    """
    with read_saved(path, FORMAT) as (saved, document):
        model = _model(saved, document)
        _check(model)
        try:
            with np.errstate(over="raise", invalid="raise"):
                model.graph([1])
        except ArithmeticError as error:
            raise PlanFileError(f"{path}: a scale is no float32: {error}") from None
        return model


def _model(saved: SavedFile, document: dict[str, Any]) -> QuantizedEncoder:
    def norm(found: list[str]) -> Norm:
        gamma, beta = map(saved.array, found)
        return Norm(gamma, beta)

    sizes = document["shape"]
    expect(
        all(type(size) is int for size in sizes.values()), f"shape: {sizes} are no whole numbers"
    )
    products, curves = document["products"].items(), document["curves"].items()
    tables = document["tables"]
    return QuantizedEncoder(
        shape=EncoderShape(**sizes),
        norm=norm(document["norm"]),
        norms=tuple((norm(behind), norm(end)) for behind, end in document["norms"]),
        formats=Formats(
            saved.formats(document["formats"]),
            {name: IntegerLinear(*map(saved.array, parts)) for name, parts in products},
            {name: Computed(function, alpha) for name, (function, alpha) in curves},
            frozenset(),
            alike_heads=True,
        ),
        tables=tables and Tables(*map(saved.array, tables)),
    )


def _check(model: QuantizedEncoder) -> None:
    """Raise `GraphError` that names what is not as the shape says, before a graph is made of it."""
    shape = model.shape
    expect(
        len(model.norms) == shape.layers,
        f"shape: there are {shape.layers} layers, but norms of {len(model.norms)}",
    )
    for norm in (model.norm, *(each for pair in model.norms for each in pair)):
        _expect_array("gamma", norm.gamma, "float32", (shape.width,))
        _expect_array("beta", norm.beta, "float32", (shape.width,))
    _check_products(shape, model.formats)
    _check_forms(shape, model.formats)
    if model.tables is not None:
        for name, table in vars(model.tables).items():
            rows = table.shape[0] if table.ndim else 0
            expect(rows > 0, f"{name}: it has no rows")
            _expect_array(name, table, "int16", (rows, shape.width))


def _check_products(shape: EncoderShape, formats: Formats) -> None:
    products = dict(_products(shape))
    expect(formats.integers.keys() == products.keys(), "products: they are of another encoder")
    for name, (inputs, outputs) in products.items():
        found = formats.integers[name]
        _expect_array(f"{name}.weights", found.weights, "int8", (inputs, outputs))
        _expect_array(f"{name}.bias", found.bias, "int32", (outputs,))
        _expect_steps(name, found.steps, outputs)


def _check_forms(shape: EncoderShape, formats: Formats) -> None:
    hidden = {f"{index}.hidden" for index in range(shape.layers)}
    expect(formats.curves.keys() == hidden, "curves: they are of another encoder")
    for name, curve in formats.curves.items():
        expect(curve.function in ACTIVATIONS, f"{name}: there is no curve {curve.function!r}")
        known = type(curve.alpha) is float and _LEAST_STEP < curve.alpha < _MOST_STEP
        expect(known, f"{name}: its factor is {curve.alpha!r}")
    for form, found in formats.forms.items():
        expect(form.role in _TYPES, f"{form.key}: an encoder has no {form.role!r}")
        kind, least, most = _UNSIGNED if form.key in hidden else _TYPES[form.role]
        expect(found.type == kind, f"{form.key}: it is {found.type}, not {kind}")
        _expect_steps(form.key, found.steps, found.steps.size)
        zero = found.zero_point
        inside = type(zero) is int and least <= zero <= most
        expect(inside, f"{form.key}: its zero point is {zero!r}")


def _products(shape: EncoderShape) -> Iterator[tuple[str, tuple[int, int]]]:
    """Inputs and outputs of each product."""
    for index in range(shape.layers):
        for name in ("query", "key", "value", "output"):
            yield f"{index}.{name}", (shape.width, shape.width)
        yield f"{index}.up", (shape.width, shape.hidden)
        yield f"{index}.down", (shape.hidden, shape.width)


def _expect_array(name: str, array: Array, kind: str, shape: tuple[int, ...]) -> None:
    found = f"{name}: it is {array.dtype} of {array.shape}, not {kind} of {shape}"
    expect(str(array.dtype) == kind and array.shape == shape, found)
    if array.dtype.kind == "f":
        expect(bool(np.isfinite(array).all()), f"{name}: it is not finite everywhere")


def _expect_steps(name: str, steps: Array, count: int) -> None:
    _expect_array(f"{name}.steps", steps, "float64", (count,))
    inside = bool(((steps > _LEAST_STEP) & (steps < _MOST_STEP)).all())
    expect(inside, f"{name}: a step is not between {_LEAST_STEP} and {_MOST_STEP}")
