"""Products, what finishes them, and functions of what the user gives, in integers."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics import EXPONENT_FRACTION_BITS
from celosia.sw.ir.graph import Activation, AddResidual, Finish, Requantize, Softmax, Sums, View
from celosia.sw.quantize.graphs.formats import Format
from celosia.sw.quantize.graphs.places import Emit, Places
from celosia.sw.quantize.linear import IntegerLinear
from celosia.sw.quantize.units.homes import Home
from celosia.sw.quantize.units.units import Finishing, Function, Product
from celosia.sw.quantize.units.values import Form

__all__ = ["EMIT"]


def _product(at: Places, name: str, unit: Product) -> None:
    """Add a product in the roles that it has; what is read in several is computed as sums."""
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


EMIT: Final[Emit] = {Product: _product, Finishing: _finishing, Function: _function}
