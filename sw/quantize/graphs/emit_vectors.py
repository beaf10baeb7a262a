"""Norms, and what combines two values element by element, in integers.

``Subtract`` with a negative scale of its second term is a sum.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics.integers import INT16_MAX
from celosia.isa.numerics.normalization import EPSILON_BITS
from celosia.isa.numerics.rotation import ROTATION_FRACTION_BITS
from celosia.sw.ir.graph import Combine, Normalized, Subtract, Tensor, View
from celosia.sw.quantize.graphs.places import Emit, Places, only
from celosia.sw.quantize.norm import quantize_norm
from celosia.sw.quantize.units.units import Normalization, Rotation
from celosia.sw.quantize.units.values import Form, Role, Value
from celosia.sw.quantize.units.vectors import (
    Addition,
    Affine,
    Multiplication,
    Rectified,
    Subtraction,
)

__all__ = ["EMIT"]

_SAME_ROWS: Final = 16
"""Rows of numbers that graphs of fewer rows have, too: programs of a decoder's steps, of however
many tokens, have the same constants."""
_MOST_ROWS: Final = 64
"""Rows of numbers that are stored, which stand for any number of rows."""


def _normalization(at: Places, name: str, unit: Normalization) -> None:
    """Add a norm of each part, whose results are in all roles."""
    step = at.format(Form(unit.x.tensor, "wide")).step
    epsilon = min(round(unit.x.cols * unit.epsilon / step**2), (1 << EPSILON_BITS) - 1)
    roles = at.segments.made[unit.value.tensor]
    made = [at.out(unit.value, role) for role in roles]
    parameters: dict[tuple[Role, bytes], tuple[View, View, int]] = {}
    for number, part in enumerate(unit.parts):
        outputs = []
        for role, out in zip(roles, made, strict=True):
            place = part.out
            steps = at.format(Form(unit.value.key, role)).steps
            steps = steps[place.col : place.col + place.cols]
            known = (role, steps.tobytes())
            if known not in parameters:
                parameters[known] = _parameters(at, name, role, unit, steps, number)
            home = out.part(row=place.row, rows=place.rows, col=place.col, cols=place.cols)
            outputs.append(Normalized(home, *parameters[known]))
        alone = ".normalization" * (not at.named)
        at.builder.layernorm(
            name + (alone if len(unit.parts) == 1 else f".normalization.{number}"),
            at.read(part.x, "wide"),
            outputs,
            epsilon=epsilon,
            rms=unit.rms,
        )


def _multiplication(at: Places, name: str, unit: Multiplication) -> None:
    """Add a product of elements for each role."""
    a, b = at.read(unit.a, "wide"), at.read(unit.b, "wide")
    steps = at.steps(unit.a, "wide") * at.steps(unit.b, "wide")
    for role in at.segments.made[unit.value.tensor]:
        scale = only(steps / at.format(Form(unit.value.key, role)).steps)
        at.builder.combine(
            Combine(
                name=f"{name}.multiply.{role}",
                function="multiply",
                out=at.out(unit.value, role),
                a=a,
                b=b,
                scale=scale,
            )
        )


def _sum(at: Places, name: str, unit: Subtraction) -> None:
    """Add a sum or a difference of int16, for each text if the second term is the same for all."""
    keys = unit.a.tensor, unit.b.tensor, unit.value.key
    first, second, step = (at.format(Form(key, "wide")).step for key in keys)
    first, second = (each * by for each, by in zip((first, second), unit.factors, strict=True))
    scales = {"scale": first / step, "residual_scale": -unit.SIGN * second / step}
    a, b = at.read(unit.a, "wide"), at.read(unit.b, "wide")
    out, rows = at.out(unit.value, "wide"), unit.b.rows
    texts = unit.a.rows // rows
    what = f"{name}.{'add' if unit.SIGN > 0 else 'subtract'}"
    for text in range(texts):
        of_text = (each.part(row=text * rows, rows=rows) for each in (out, a))
        home, x = of_text if texts > 1 else (out, a)
        number = f".{text}" * (texts > 1)
        at.builder.combine(Subtract(name=f"{what}{number}", out=home, a=x, b=b, **scales))
    if "small" in at.segments.made[unit.value.tensor]:
        _requantized(at, f"{name}.small", unit.value, out, step)


def _affine(at: Places, name: str, unit: Affine) -> None:
    """Add a product of int16 with known numbers, and the sum of that and of known numbers."""
    x = at.read(unit.x, "wide")
    given, step = (at.format(Form(key, "wide")).step for key in (unit.x.tensor, unit.value.key))
    out = at.out(unit.value, "wide")
    if unit.factors is not None:
        factors, scaled = unit.factors.astype(np.float64) * given, out
        given = step
        if unit.addends is not None:
            # A step with which no product is beyond int16 unless the sum is, too.
            farthest = step + float(np.abs(unit.addends).max()) / INT16_MAX
            given = min(float(np.abs(factors).max()), farthest)
            scaled = at.builder.tensor(Tensor(f"{name}.scaled", "int16", x.rows, x.cols))
        _by_columns(at, f"{name}.multiply", scaled, x, factors / given)
        x = scaled
    if unit.addends is not None:
        addends = unit.addends.astype(np.float64)
        each = float(np.abs(addends).max() / INT16_MAX)
        known = at.builder.constant(f"{name}.addends", _rows_of(addends / each, x.rows))
        scales = {"scale": given / step, "residual_scale": -each / step}
        for part, home, rows, numbers in _blocks(f"{name}.add", out, x, known):
            at.builder.combine(Subtract(name=part, out=home, a=rows, b=numbers, **scales))
    if "small" in at.segments.made[unit.value.tensor]:
        _requantized(at, f"{name}.small", unit.value, out, step)


def _rectified(at: Places, name: str, unit: Rectified) -> None:
    """Add two differences from the largest int16, of which the first saturates for numbers below 0.

    Nothing is lost: both differences of what is left are within int16.
    """
    x, out = at.read(unit.x, "wide"), at.out(unit.value, "wide")
    given, step = (at.format(Form(key, "wide")).step for key in (unit.x.tensor, unit.value.key))
    below = at.builder.tensor(Tensor(f"{name}.below", "int16", x.rows, x.cols))
    largest = np.full(x.cols, INT16_MAX, np.float64)
    known = at.builder.constant(f"{name}.largest", _rows_of(largest, x.rows))
    for what, rows, result, by in (
        ("first", x, below, given / step),
        ("last", below, out, 1.0),
    ):
        scales = {"scale": 1.0, "residual_scale": by}
        for part, home, taken, numbers in _blocks(f"{name}.{what}", result, rows, known):
            at.builder.combine(Subtract(name=part, out=home, a=numbers, b=taken, **scales))
    if "small" in at.segments.made[unit.value.tensor]:
        _requantized(at, f"{name}.small", unit.value, out, step)


def _requantized(at: Places, name: str, value: Value, rows: View, step: float) -> None:
    """Add what makes int8 of int16, each column with its step."""
    factors = step / at.format(Form(value.key, "small")).steps
    _by_columns(at, name, at.out(value, "small"), rows, factors)


def _by_columns(at: Places, name: str, out: View, rows: View, factors: NDArray[np.float64]) -> None:
    """Add a product with a known number for each column."""
    scale = float(np.abs(factors).max() / INT16_MAX)
    known = at.builder.constant(f"{name}.factors", _rows_of(factors / scale, rows.rows))
    for part, home, taken, numbers in _blocks(name, out, rows, known):
        at.builder.combine(
            Combine(name=part, function="multiply", out=home, a=taken, b=numbers, scale=scale)
        )


def _rows_of(numbers: NDArray[np.float64], rows: int) -> NDArray[np.int16]:
    """The same numbers in each row of a block."""
    each = np.rint(numbers).astype(np.int16)
    return np.tile(each, (min(max(rows, _SAME_ROWS), _MOST_ROWS), 1))


def _blocks(
    name: str, out: View, rows: View, known: View
) -> Iterator[tuple[str, View, View, View]]:
    """A name, results, rows and known numbers, of as many rows at a time as constants have."""
    for number, row in enumerate(range(0, rows.rows, _MOST_ROWS)):
        count = min(_MOST_ROWS, rows.rows - row)
        part = f"{name}{f'.{number}' * (number > 0)}"
        taken, numbers = rows.part(row=row, rows=count), known.part(row=0, rows=count)
        yield part, out.part(row=row, rows=count), taken, numbers


def _rotation(at: Places, name: str, unit: Rotation) -> None:
    """Add a rotation of each head, where its rows are written."""
    for role in at.segments.made[unit.value.tensor]:
        steps = at.format(Form(unit.value.key, role)).steps
        homes = at.row_homes(unit.value, role)
        for number, ((first, home), turn) in enumerate(product(homes, unit.turns)):
            place = turn.out
            scales = at.steps(turn.x, "wide") * at.steps(turn.table, "angles")
            scales /= steps[place.col : place.col + place.cols]
            start = max(place.row, first)
            count = min(place.row + place.rows, first + home.rows) - start
            a, b = (
                view.part(row=start - place.row, rows=count)
                for view in (at.read(turn.x, "wide"), at.read(turn.table, "angles"))
            )
            at.builder.combine(
                Combine(
                    name=f"{name}.rotate.{role}.{number}",
                    function="rotate",
                    out=home.part(row=start - first, rows=count, col=place.col, cols=place.cols),
                    a=a,
                    b=b,
                    scale=only(scales) * 2.0**ROTATION_FRACTION_BITS,
                )
            )


def _parameters(
    at: Places, name: str, role: Role, unit: Normalization, steps: NDArray[np.float64], number: int
) -> tuple[View, View, int]:
    """Gamma, beta and the shift of results of these steps; heads of the same share them."""
    key = f"{name}.{role}.{number}" if number else f"{name}.{role}"
    arrays = quantize_norm(key, unit.norm, steps)
    gamma, beta = (
        at.builder.constant(f"{key}.{part}", arrays[f"{key}.{part}"]) for part in ("gamma", "beta")
    )
    return gamma, beta, int(arrays[f"{key}.shift"])


EMIT: Final[Emit] = {
    Normalization: _normalization,
    Multiplication: _multiplication,
    Subtraction: _sum,
    Addition: _sum,
    Affine: _affine,
    Rectified: _rectified,
    Rotation: _rotation,
}
