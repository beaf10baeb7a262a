"""Products, what finishes them, and functions of what the user gives, in integers.

An operand that is int16, x, is ``256 high + low``, both int8 (a low half of 128 becomes 127), and a
product of both has one load of its weights.  Combinations of int16 take x apart, four for an
operand, and put the sums together, one or two for a product: ``Subtract`` adds with a negative
scale, ``multiply`` by ones makes int8.
"""

from collections.abc import Callable, Sequence
from math import ceil, log2
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics import EXPONENT_FRACTION_BITS
from celosia.isa.numerics.integers import INT16_MAX
from celosia.sw.frontend.nn.operators.operator import expect
from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    Combine,
    Finish,
    Requantize,
    Softmax,
    Subtract,
    Sums,
    Tensor,
    View,
)
from celosia.sw.quantize.graphs.formats import Format
from celosia.sw.quantize.graphs.places import Emit, Places
from celosia.sw.quantize.linear import IntegerLinear
from celosia.sw.quantize.units.homes import Home
from celosia.sw.quantize.units.units import Finishing, Function, Product
from celosia.sw.quantize.units.values import Form
from celosia.sw.quantize.units.wide_operands import weighed, weighed_columns

__all__ = ["EMIT", "RADIX", "WIDE_LARGEST", "subtract"]

RADIX: Final = 256
"""What the high half counts."""
WIDE_LARGEST: Final = 127 * RADIX + 127
"""The largest int16 whose halves are int8."""
_LOW_DEVIATION: Final = RADIX / 12**0.5
"""The standard deviation of low halves: they are any number."""
_ROWS: Final = 16
"""Rows of a constant at least: steps of a decoder, whatever their rows, have the same constants."""
_DEVIATIONS: Final = 6
"""So many deviations of the sums of low halves are below the end of int16."""


def _product(at: Places, name: str, unit: Product) -> None:
    """Add a product in the roles that it has; what is read in several is computed as sums."""
    if unit.wide:
        _wide_product(at, name, unit)
        return
    roles = at.segments.made[unit.value.tensor]
    if roles == ("heads",) and unit.value.key in at.appended:
        _to_heads(at, name, unit)
        return
    if len(roles) == 1 and roles != ("sums",):
        (role,) = roles
        form = at.format(Form(unit.value.key, role))
        out = at.out(unit.value, role)
        scale = f"{name}.scale"
        _multiply(at, name, unit, out, lambda i: _plain(at, scale, i.steps, form))
        return
    steps = at.formats.integers[unit.value.tensor].steps
    sums = Form(unit.value.key, "sums")
    at.forms[sums] = Format("int32", steps)
    out = at.out(unit.value, "sums")
    _multiply(at, name, unit, out, lambda _: Sums())
    for role in roles:
        if role != "sums":
            form = at.format(Form(unit.value.key, role))
            finish = _plain(at, f"{name}.{role}.scale", steps, form)
            at.builder.transform(f"{name}.{role}", at.out(unit.value, role), out, finish)


def _finishing(at: Places, name: str, unit: Finishing) -> None:
    """Add what finishes a product: with it, if it is `fused`, else from its sums."""
    if unit.product.wide:
        _wide_residual(at, name, unit)
        return
    for role in at.segments.made[unit.value.tensor]:
        out = at.out(unit.value, role)
        form = Form(unit.value.key, role)
        if unit.product.value.tensor in at.segments.fused:
            _multiply(
                at, name, unit.product, out, lambda i, f=form: _finish(at, name, unit, f, i.steps)
            )
            continue
        sums = Form(unit.product.value.key, "sums")
        steps = at.format(sums).steps
        source = at.read(View(sums.key, 0, 0, *at.tensor(sums).shape), "sums")
        finish = _finish(at, name, unit, form, steps)
        at.builder.transform(f"{name}.finish.{role}", out, source, finish)


def _function(at: Places, name: str, unit: Function) -> None:
    """Add a function of int32 that the user gives."""
    source, steps = at.read(unit.x, "sums"), at.steps(unit.x, "sums")
    form = Form(unit.value.key, "wide")
    if unit.function == "softmax":
        finish: Finish = Softmax(float(np.float32(steps[0] * 2**EXPONENT_FRACTION_BITS)))
    else:
        finish = _curve(at, f"{name}.scale", unit, at.format(form), steps)
    at.builder.transform(f"{name}.function", at.out(unit.value, "wide"), source, finish)


def _multiply(
    at: Places,
    name: str,
    unit: Product,
    out: View,
    finish: Callable[[IntegerLinear], Finish],
    home: Home | None = None,
) -> None:
    """Add a product, or the columns of it that have this `home`; `finish` is told its integers.

    Its constants are in memory in this order: scales first, so that loads have even strides.
    """
    integer = at.formats.integers[unit.value.tensor]
    if home is not None:
        integer = integer.part(home.columns)
    how = finish(integer)
    integer = integer.padded(out.cols)
    at.builder.matmul(
        name + ".product" * (not at.named),
        out,
        at.read(unit.x, "small"),
        at.builder.constant(f"{name}.weights", integer.weights, integer.kind),
        how,
        bias=_bias(at, name, integer),
        copies=() if home is None else home.copies,
    )


def _bias(at: Places, name: str, integer: IntegerLinear) -> View | None:
    """What is added to the sums of a product, if that is anything."""
    if not integer.bias.any():
        return None
    return at.builder.constant(f"{name}.bias", integer.bias[np.newaxis])


def _to_heads(at: Places, name: str, unit: Product) -> None:
    """A product that attention reads, a part for each of its homes."""
    steps = at.format(Form(unit.value.key, "heads")).steps
    homes = at.homes_of(unit.value)
    for number, home in enumerate(homes):
        part = f"{name}.{number}" if len(homes) > 1 else name

        def finish(integer: IntegerLinear, part: str = part, home: Home = home) -> Finish:
            return Requantize(at.scale(f"{part}.scale", integer.steps / steps[home.columns]))

        _multiply(at, part, unit, home.view, finish, home)


def _plain(at: Places, name: str, steps: NDArray[np.float64], form: Format) -> Finish:
    return Requantize(at.scale(name, steps / form.steps), form.zero_point)


def _finish(
    at: Places, name: str, unit: Finishing, form: Form, steps: NDArray[np.float64]
) -> Finish:
    found = at.format(form)
    scale = f"{name}.{form.role}.scale"
    if unit.residual is not None:
        other = at.format(Form(unit.residual.tensor, "wide")).step
        residual = at.read(unit.residual, "wide")
        return AddResidual(at.scale(scale, steps / found.step), residual, other / found.step)
    return _curve(at, scale, unit, found, steps)


def _curve(
    at: Places,
    scale: str,
    unit: Finishing | Function,
    found: Format,
    steps: NDArray[np.float64],
) -> Finish:
    """A function of elements, of sums of these steps."""
    if unit.function == "relu":
        return Requantize(at.scale(scale, steps / found.steps), found.zero_point, relu=True)
    computed = at.formats.curves[unit.value.tensor]
    if computed.function != unit.function:
        at.gelus[at.names[unit.value.key]] = computed.alpha
    curve = ACTIVATIONS[computed.function]
    return Activation(
        computed.function,
        at.scale(scale, steps * computed.alpha * 2.0**curve.fraction_bits),
        curve.unit / computed.alpha / found.step,
        found.zero_point,
    )


# Operands of int16.


def _wide_product(at: Places, name: str, unit: Product) -> None:
    """Add a product whose results are int16, or int8 that attention reads."""
    (role,) = at.segments.made[unit.value.tensor]
    steps = at.format(Form(unit.value.key, role)).steps
    if role == "wide":
        out = at.out(unit.value, role)
        halves, parts = _sums(at, name, unit, at.formats.integers[unit.value.tensor], steps)
        _together(at, name, out, halves, parts)
        return
    integer, fine = at.formats.integers[unit.value.tensor], steps / RADIX
    if weighed(at.segments, unit):
        whole = _whole(at, name, unit, integer, fine)
        at.fine[unit.value.key] = _beside(at, name, unit, whole)
        return
    homes = _homes(at, unit)
    for number, home in enumerate(homes):
        part = f"{name}.{number}" if len(homes) > 1 else name
        whole = _whole(at, part, unit, integer.part(home.columns), fine[home.columns])
        _narrow(at, f"{part}.narrow", home.view, whole, 1 / RADIX)


def _whole(
    at: Places, name: str, unit: Product, integer: IntegerLinear, steps: NDArray[np.float64]
) -> View:
    """The results of a product as int16 in these steps."""
    halves, parts = _sums(at, name, unit, integer, steps)
    whole = _scratch(at, f"{name}.whole", unit.x.rows, len(steps))
    _together(at, name, whole, halves, parts)
    return whole


def _wide_residual(at: Places, name: str, unit: Finishing) -> None:
    """Add a product with a residual."""
    assert unit.residual is not None
    (role,) = at.segments.made[unit.value.tensor]
    found, out = at.format(Form(unit.value.key, role)), at.out(unit.value, role)
    other = at.format(Form(unit.residual.tensor, "wide")).step / found.step
    integer = at.formats.integers[unit.product.value.tensor]
    halves, parts = _sums(at, name, unit.product, integer, found.steps)
    low = _scratch(at, f"{name}.low", *out.shape)
    residual = at.read(unit.residual, "wide")
    subtract(at, f"{name}.below", low, (halves[1], parts / RADIX), (residual, -other))
    subtract(at, f"{name}.together", out, (halves[0], parts), (low, -1.0))


def _homes(at: Places, unit: Product) -> Sequence[Home]:
    if unit.value.key not in at.appended:
        out = at.out(unit.value, "heads")
        return [Home(np.arange(out.cols), out)]
    homes = at.homes_of(unit.value)
    plain = not any(home.copies for home in homes)
    expect(plain, f"{unit.value.tensor}: reads int16, but is appended to several caches")
    return homes


def _sums(
    at: Places, name: str, unit: Product, integer: IntegerLinear, steps: NDArray[np.float64]
) -> tuple[tuple[View, View], float]:
    """The products of both halves as int16, and how many of `steps` 1 of the high one is."""
    x, factors = at.read(unit.x, "wide"), integer.steps / steps
    norms = np.sqrt(np.square(integer.weights.astype(np.float64)).sum(axis=0))
    reach = float((factors * norms).max()) * _LOW_DEVIATION * _DEVIATIONS / INT16_MAX
    parts = 2.0 ** max(ceil(log2(reach)) if reach > 0 else 0, 1)
    out = _scratch(at, f"{name}.products", 2 * x.rows, len(integer.bias))
    # Rows of both halves have the same addend: together they count it 257 times.
    bias = np.rint(integer.bias * (RADIX / (RADIX + 1))).astype(np.int32)
    at.builder.matmul(
        f"{name}.product",
        out,
        _halves(at, unit.x, x),
        at.builder.constant(f"{name}.weights", integer.weights, integer.kind),
        Requantize(at.scale(f"{name}.scale", factors / parts)),
        bias=at.builder.constant(f"{name}.bias", bias[np.newaxis]) if bias.any() else None,
    )
    return _two(out), parts


def _halves(at: Places, view: View, x: View) -> View:
    """The halves of an operand: high ones of all rows, then low ones."""
    if view in at.halves:
        return at.halves[view]
    place = f"{view.row}.{view.col}"
    unit = at.names[view.tensor]
    whole = at.builder.tensor(Tensor(f"{unit}.halves.{place}", "int8", 2 * x.rows, x.cols))
    high, low = _two(whole)
    count = _scratch(at, f"{unit}.count.{place}", *x.shape)
    rest = _scratch(at, f"{unit}.rest.{place}", *x.shape)
    _narrow(at, f"{unit}.high.{place}", high, x, 1 / RADIX)
    _narrow(at, f"{unit}.counted.{place}", count, x, 1 / RADIX)
    subtract(at, f"{unit}.left.{place}", rest, (x, 1.0), (count, float(RADIX)))
    _narrow(at, f"{unit}.low.{place}", low, rest, 1.0)
    at.halves[view] = whole
    return whole


def _beside(at: Places, name: str, unit: Product, x: View) -> View:
    """The halves of values: for the columns of each head high ones, then low ones."""
    rows, cols = x.shape
    whole = at.builder.tensor(Tensor(f"{name}.halves", "int8", rows, 2 * cols))
    count, rest = _scratch(at, f"{name}.count", *x.shape), _scratch(at, f"{name}.rest", *x.shape)
    _narrow(at, f"{name}.counted", count, x, 1 / RADIX)
    subtract(at, f"{name}.left", rest, (x, 1.0), (count, float(RADIX)))
    for col, width in weighed_columns(at.segments, unit):
        for half, source, scale in (("high", x, 1 / RADIX), ("low", rest, 1.0)):
            home = whole.part(col=2 * col + width * (half == "low"), cols=width)
            part = source.part(col=col, cols=width)
            _narrow(at, f"{name}.{half}.{col}", home, part, scale)
    return whole


def _two(view: View) -> tuple[View, View]:
    rows = view.rows // 2
    return view.part(rows=rows), view.part(row=rows, rows=rows)


def _scratch(at: Places, name: str, rows: int, cols: int) -> View:
    return at.builder.tensor(Tensor(name, "int16", rows, cols))


def _together(at: Places, name: str, out: View, halves: tuple[View, View], parts: float) -> None:
    high, low = halves
    subtract(at, f"{name}.together", out, (high, parts), (low, -parts / RADIX))


def subtract(
    at: Places, name: str, out: View, first: tuple[View, float], second: tuple[View, float]
) -> None:
    """Add a difference of int16: of each term a view, and what 1 of it counts."""
    (a, scale), (b, other) = first, second
    at.builder.combine(Subtract(name=name, out=out, a=a, b=b, scale=scale, residual_scale=other))


def _narrow(at: Places, name: str, out: View, source: View, scale: float) -> None:
    """Add a scaling of int16."""
    rows = max(source.rows, _ROWS)
    ones = np.ones((rows, source.cols), np.int16)
    b = at.builder.constant(f"ones.{rows}.{source.cols}", ones).part(rows=source.rows)
    at.builder.combine(Combine(name=name, function="multiply", out=out, a=source, b=b, scale=scale))


EMIT: Final[Emit] = {Product: _product, Finishing: _finishing, Function: _function}
