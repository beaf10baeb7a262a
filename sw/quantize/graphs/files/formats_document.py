"""Formats, integers and curves of a quantized model as JSON, checked before a graph has them."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from celosia.isa.encoding import WeightType
from celosia.isa.functions.table import ACTIVATIONS
from celosia.sw.frontend.nn.operators.operator import Array, expect
from celosia.sw.quantize.curves import Computed
from celosia.sw.quantize.graphs.files.saved_file import SavedFile
from celosia.sw.quantize.graphs.formats import Format, Formats
from celosia.sw.quantize.linear import IntegerLinear
from celosia.sw.quantize.units.values import Form
from celosia.sw.quantize.weight_types import largest_weight

__all__ = ["formats_document", "read_formats"]

_LEAST_STEP, _MOST_STEP = 1e-30, 1e30
"""Steps beyond are no float32, or their squares are not."""
_TYPES: Final = {
    "wide": ("int16",),
    "small": ("int8", "uint8"),
    "heads": ("int8",),
    "angles": ("int16",),
    "sums": ("int32",),
}
"""The types that a form may have, by its role."""


def formats_document(formats: Formats, saved: SavedFile) -> dict[str, Any]:
    """All of `formats` as JSON values; arrays are stored in `saved`."""
    return {
        "forms": [
            [form.key, form.role, found.type, saved.store(found.steps), found.zero_point]
            for form, found in formats.forms.items()
        ],
        "products": {
            name: [saved.store(part) for part in (found.weights, found.bias, found.steps)]
            for name, found in formats.integers.items()
        },
        "packed": {
            name: found.kind.name.lower()
            for name, found in formats.integers.items()
            if found.kind is not WeightType.INT8
        },
        "curves": {name: [each.function, each.alpha] for name, each in formats.curves.items()},
        "stored": sorted(formats.stored),
        "notes": list(formats.notes),
        "sums": sorted(formats.sums),
        "apart": sorted(formats.apart),
        "dithered": sorted(formats.dithered),
        "int16": sorted(formats.int16_operands),
        "caps": dict(formats.caps),
        "alike_heads": formats.alike_heads,
        "per_tensor": formats.per_tensor,
    }


def read_formats(found: Mapping[str, Any], saved: SavedFile) -> Formats:
    """The formats that a document has.

    Raises `GraphError` that names what no graph can have, or `LookupError`, `TypeError` and the
    like for what is of another kind altogether.
    """
    packed = {name: _kind(name, word) for name, word in found.get("packed", {}).items()}
    formats = Formats(
        forms={
            Form(key, role): Format(kind, saved.array(steps), zero)
            for key, role, kind, steps, zero in found["forms"]
        },
        integers={
            name: IntegerLinear(*map(saved.array, parts), kind=packed.get(name, WeightType.INT8))
            for name, parts in found["products"].items()
        },
        curves={name: Computed(*curve) for name, curve in found["curves"].items()},
        stored=frozenset(found["stored"]),
        notes=tuple(map(str, found["notes"])),
        sums=frozenset(found["sums"]),
        apart=frozenset(found.get("apart", ())),
        dithered=frozenset(found.get("dithered", ())),
        int16_operands=frozenset(found.get("int16", ())),
        caps={str(name): float(factor) for name, factor in found.get("caps", {}).items()},
        alike_heads=found["alike_heads"] is True,
        per_tensor=found.get("per_tensor") is True,
    )
    for form, each in formats.forms.items():
        _check_form(form, each)
    for name, linear in formats.integers.items():
        _check_product(name, linear)
    for name, factor in formats.caps.items():
        expect(_LEAST_STEP < factor < _MOST_STEP, f"{name}: scores times {factor!r}")
    for name, curve in formats.curves.items():
        expect(curve.function in ACTIVATIONS, f"{name}: there is no curve {curve.function!r}")
        known = type(curve.alpha) is float and _LEAST_STEP < curve.alpha < _MOST_STEP
        expect(known, f"{name}: its factor is {curve.alpha!r}")
    return formats


def _kind(name: str, word: object) -> WeightType:
    """The type of the weights of a product."""
    known = {kind.name.lower(): kind for kind in WeightType}
    expect(word in known, f"{name}: {word!r} is no type of weights")
    return known[str(word)]


def _check_form(form: Form, found: Format) -> None:
    expect(form.role in _TYPES, f"{form.key}: there is no form {form.role!r}")
    known = found.type in _TYPES[form.role]
    expect(known, f"{form.key}: {found.type} is no type of {form.role}")
    _expect_steps(form.key, found.steps, found.steps.size)
    zero, info = found.zero_point, np.iinfo(found.type)
    inside = type(zero) is int and info.min <= zero <= info.max
    expect(inside, f"{form.key}: its zero point is {zero!r}")


def _check_product(name: str, found: IntegerLinear) -> None:
    sizes = found.weights.shape
    expect(len(sizes) == 2, f"{name}.weights: their shape is {sizes}")
    _expect_array(f"{name}.weights", found.weights, "int8", sizes)
    most = largest_weight(found.kind)
    inside = found.kind is WeightType.INT8 or bool((np.abs(found.weights) <= most).all())
    expect(inside, f"{name}: weights of {found.kind.name.lower()} are not in {-most}..{most}")
    _expect_array(f"{name}.bias", found.bias, "int32", sizes[1:])
    _expect_steps(name, found.steps, sizes[1])


def _expect_array(name: str, array: Array, kind: str, shape: tuple[int, ...]) -> None:
    found = f"{name}: it is {array.dtype} of {array.shape}, not {kind} of {shape}"
    expect(str(array.dtype) == kind and array.shape == shape, found)


def _expect_steps(name: str, steps: Array, count: int) -> None:
    kind = "float32" if steps.dtype == "float32" else "float64"
    _expect_array(f"{name}.steps", steps, kind, (count,))
    inside = bool(((steps > _LEAST_STEP) & (steps < _MOST_STEP)).all())
    expect(inside, f"{name}: a step is not between {_LEAST_STEP} and {_MOST_STEP}")
