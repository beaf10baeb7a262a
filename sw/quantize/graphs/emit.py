"""Integer graphs of segments: units with weights, scales and zero points in their formats."""

from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics import CONTEXT_FRACTION_BITS, EXPONENT_FRACTION_BITS
from celosia.isa.numerics.normalization import EPSILON_BITS
from celosia.isa.numerics.rotation import ROTATION_FRACTION_BITS
from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    Combine,
    DeferredSoftmax,
    DivideBySums,
    Finish,
    Mask,
    Normalized,
    Requantize,
    Softmax,
    Subtract,
    Sums,
    Tensor,
    View,
)
from celosia.sw.quantize.graphs.formats import Format, Formats
from celosia.sw.quantize.graphs.homes import Home
from celosia.sw.quantize.graphs.places import Places, is_one, only
from celosia.sw.quantize.linear import IntegerLinear
from celosia.sw.quantize.units.segments import Form, Keys, Role, Segment, Segments
from celosia.sw.quantize.units.units import (
    Append,
    Attention,
    Finishing,
    Function,
    Head,
    Multiplication,
    Normalization,
    Product,
    Rotation,
    Subtraction,
    Unit,
)

__all__ = ["emit_segments"]


def emit_segments(
    segments: Segments, formats: Formats, *, named: bool = False, moving: bool = False
) -> tuple[list[Segment], dict[Form, Format]]:
    """The integer graphs of all segments, and the format of every form in them.

    Names of tensors and operators begin with their unit's, which is a number, or, if graphs are
    `named`, the origin of the node that it ends with: no two units may have the same.  A product
    or a norm is called like its unit then.  With `moving`, causal masks are those of programs that
    are patched for other lengths.

    Raises `GraphError` for a graph that `formats` are not of, `ValueError` for a norm whose factors
    do not fit their integers.
    """
    forms = formats.fitted(segments)
    emitters = [
        _Emitter(segments, formats, forms, number, named=named, moving=moving)
        for number in range(segments.count)
    ]
    for name, segment in segments.segment_of.items():
        emitters[segment].take(segments.units.units[name])
    wanted = {form for emitter in emitters for form in emitter.inputs.values()}
    wanted |= {rows.form for emitter in emitters for rows in emitter.given}
    wanted |= {segments.host_form(tensor) for tensor in segments.host_reads}
    return [emitter.finish(wanted) for emitter in emitters], forms


class _Emitter(Places):
    """One segment in the making."""

    def __init__(
        self,
        segments: Segments,
        formats: Formats,
        forms: dict[Form, Format],
        number: int,
        *,
        named: bool,
        moving: bool,
    ):
        super().__init__(segments, forms, number, named=named)
        self.formats, self.named, self.moving = formats, named, moving
        self.keys: dict[str, Keys] = {}
        self.operators: dict[str, str] = {}
        self.gelus: dict[str, float] = {}

    def take(self, unit: Unit) -> None:
        """Add the operators of a unit."""
        name, tensor = self.names[unit.value.key], unit.value.tensor
        self.operators[name] = self.origins.get(tensor) or tensor
        match unit:
            case Product():
                self._product(name, unit)
            case Finishing():
                self._finishing(name, unit)
            case Function():
                self._function(name, unit)
            case Normalization():
                self._norm(name, unit)
            case Attention():
                self._attention(name, unit)
            case Multiplication():
                self._multiplication(name, unit)
            case Subtraction():
                self._subtraction(name, unit)
            case Rotation():
                self._rotation(name, unit)
            case Append():
                self.append(unit)

    def finish(self, wanted: set[Form]) -> Segment:
        """The segment, whose outputs are those of its forms that are `wanted`."""
        outputs = {name: form for name, form in self.made.items() if form in wanted}
        return Segment(
            graph=self.builder.finish(*outputs),
            inputs=self.inputs,
            outputs=outputs,
            keys=self.keys,
            operators=self.operators,
            gelus=self.gelus,
            caches=self.caches,
            given=tuple(self.given),
        )

    # Units.

    def _multiply(
        self,
        name: str,
        unit: Product,
        out: View,
        finish: Callable[[IntegerLinear], Finish],
        home: Home | None = None,
    ) -> None:
        """Add a product, or the columns of it that have this `home`; `finish` is told its integers.

        Its constants are in memory in this order: scales first, so that loads have even strides.
        """
        integer = self.formats.integers[unit.value.tensor]
        if home is not None:
            integer = integer.part(home.columns)
        how = finish(integer)
        integer = integer.padded(out.cols)
        self.builder.matmul(
            name + ".product" * (not self.named),
            out,
            self.read(unit.x, "small"),
            self.builder.constant(f"{name}.weights", integer.weights),
            how,
            bias=self._bias(name, integer),
            copies=() if home is None else home.copies,
        )

    def _bias(self, name: str, integer: IntegerLinear) -> View | None:
        """What is added to the sums of a product, if that is anything."""
        if not integer.bias.any():
            return None
        return self.builder.constant(f"{name}.bias", integer.bias[np.newaxis])

    def _to_heads(self, name: str, unit: Product) -> None:
        """A product that attention reads, a part for each of its homes."""
        steps = self.format(Form(unit.value.key, "heads")).steps
        homes = self.homes_of(unit.value)
        for number, home in enumerate(homes):
            part = f"{name}.{number}" if len(homes) > 1 else name

            def finish(integer: IntegerLinear, part: str = part, home: Home = home) -> Finish:
                return Requantize(self.scale(f"{part}.scale", integer.steps / steps[home.columns]))

            self._multiply(part, unit, home.view, finish, home)

    def _product(self, name: str, unit: Product) -> None:
        roles = self.segments.made[unit.value.tensor]
        if roles == ("heads",) and unit.value.key in self.appended:
            self._to_heads(name, unit)
            return
        if len(roles) == 1 and roles != ("sums",):
            (role,) = roles
            form = self.format(Form(unit.value.key, role))
            out = self.out(unit.value, role)
            scale = f"{name}.scale"
            self._multiply(name, unit, out, lambda i: self._plain(scale, i.steps, form))
            return
        steps = self.formats.integers[unit.value.tensor].steps
        sums = Form(unit.value.key, "sums")
        self.forms[sums] = Format("int32", steps)
        out = self.out(unit.value, "sums")
        self._multiply(name, unit, out, lambda _: Sums())
        for role in roles:
            if role != "sums":
                form = self.format(Form(unit.value.key, role))
                finish = self._plain(f"{name}.{role}.scale", steps, form)
                self.builder.transform(f"{name}.{role}", self.out(unit.value, role), out, finish)

    def _plain(self, name: str, steps: NDArray[np.float64], form: Format) -> Finish:
        return Requantize(self.scale(name, steps / form.steps), form.zero_point)

    def _finishing(self, name: str, unit: Finishing) -> None:
        for role in self.segments.made[unit.value.tensor]:
            out = self.out(unit.value, role)
            form = Form(unit.value.key, role)
            if unit.product.value.tensor in self.segments.fused:
                self._multiply(
                    name, unit.product, out, lambda i, f=form: self._finish(name, unit, f, i.steps)
                )
                continue
            product = Form(unit.product.value.key, "sums")
            steps = self.format(product).steps
            rows, cols = self.tensor(product).shape
            source = self.read(View(product.key, 0, 0, rows, cols), "sums")
            finish = self._finish(name, unit, form, steps)
            self.builder.transform(f"{name}.finish.{role}", out, source, finish)

    def _function(self, name: str, unit: Function) -> None:
        source, steps = self.read(unit.x, "sums"), self.steps(unit.x, "sums")
        form = Form(unit.value.key, "wide")
        if unit.function == "softmax":
            finish: Finish = Softmax(float(np.float32(steps[0] * 2**EXPONENT_FRACTION_BITS)))
        else:
            finish = self._curve(f"{name}.scale", unit, self.format(form), steps)
        self.builder.transform(f"{name}.function", self.out(unit.value, "wide"), source, finish)

    def _finish(self, name: str, unit: Finishing, form: Form, steps: NDArray[np.float64]) -> Finish:
        found = self.format(form)
        scale = f"{name}.{form.role}.scale"
        if unit.residual is not None:
            other = self.format(Form(unit.residual.tensor, "wide")).step
            residual = self.read(unit.residual, "wide")
            return AddResidual(self.scale(scale, steps / found.step), residual, other / found.step)
        return self._curve(scale, unit, found, steps)

    def _curve(
        self, scale: str, unit: Finishing | Function, found: Format, steps: NDArray[np.float64]
    ) -> Finish:
        """A function of elements, of sums of these steps."""
        if unit.function == "relu":
            return Requantize(self.scale(scale, steps / found.steps), found.zero_point, relu=True)
        computed = self.formats.curves[unit.value.tensor]
        if computed.function != unit.function:
            self.gelus[self.names[unit.value.key]] = computed.alpha
        curve = ACTIVATIONS[computed.function]
        return Activation(
            computed.function,
            self.scale(scale, steps * computed.alpha * 2.0**curve.fraction_bits),
            curve.unit / computed.alpha / found.step,
            found.zero_point,
        )

    def _norm(self, name: str, unit: Normalization) -> None:
        step = self.format(Form(unit.x.tensor, "wide")).step
        epsilon = min(round(unit.x.cols * unit.epsilon / step**2), (1 << EPSILON_BITS) - 1)
        roles = self.segments.made[unit.value.tensor]
        made = [self.out(unit.value, role) for role in roles]
        parameters: dict[tuple[Role, bytes], tuple[View, View, int]] = {}
        for number, part in enumerate(unit.parts):
            outputs = []
            for role, out in zip(roles, made, strict=True):
                place = part.out
                steps = self.format(Form(unit.value.key, role)).steps
                steps = steps[place.col : place.col + place.cols]
                known = (role, steps.tobytes())
                if known not in parameters:
                    parameters[known] = self.norm_parameters(name, role, unit, steps, number)
                home = out.part(row=place.row, rows=place.rows, col=place.col, cols=place.cols)
                outputs.append(Normalized(home, *parameters[known]))
            alone = ".normalization" * (not self.named)
            self.builder.layernorm(
                name + (alone if len(unit.parts) == 1 else f".normalization.{number}"),
                self.read(part.x, "wide"),
                outputs,
                epsilon=epsilon,
                rms=unit.rms,
            )

    def _multiplication(self, name: str, unit: Multiplication) -> None:
        a, b = self.read(unit.a, "wide"), self.read(unit.b, "wide")
        steps = self.steps(unit.a, "wide") * self.steps(unit.b, "wide")
        for role in self.segments.made[unit.value.tensor]:
            scale = only(steps / self.format(Form(unit.value.key, role)).steps)
            self.builder.combine(
                Combine(
                    name=f"{name}.multiply.{role}",
                    function="multiply",
                    out=self.out(unit.value, role),
                    a=a,
                    b=b,
                    scale=scale,
                )
            )

    def _subtraction(self, name: str, unit: Subtraction) -> None:
        keys = unit.a.tensor, unit.b.tensor, unit.value.key
        first, second, step = (self.format(Form(key, "wide")).step for key in keys)
        scales = {"scale": first / step, "residual_scale": second / step}
        a, b, out = (
            self.read(unit.a, "wide"),
            self.read(unit.b, "wide"),
            self.out(unit.value, "wide"),
        )
        self.builder.combine(Subtract(name=f"{name}.subtract", out=out, a=a, b=b, **scales))

    def _rotation(self, name: str, unit: Rotation) -> None:
        for role in self.segments.made[unit.value.tensor]:
            steps = self.format(Form(unit.value.key, role)).steps
            homes = self.row_homes(unit.value, role)
            for number, ((first, home), turn) in enumerate(product(homes, unit.turns)):
                place = turn.out
                scales = self.steps(turn.x, "wide") * self.steps(turn.table, "angles")
                scales /= steps[place.col : place.col + place.cols]
                start = max(place.row, first)
                rows = {
                    "row": start - place.row,
                    "rows": min(place.row + place.rows, first + home.rows) - start,
                }
                self.builder.combine(
                    Combine(
                        name=f"{name}.rotate.{role}.{number}",
                        function="rotate",
                        out=home.part(
                            row=start - first, rows=rows["rows"], col=place.col, cols=place.cols
                        ),
                        a=self.read(turn.x, "wide").part(**rows),
                        b=self.read(turn.table, "angles").part(**rows),
                        scale=only(scales) * 2.0**ROTATION_FRACTION_BITS,
                    )
                )

    def _attention(self, name: str, unit: Attention) -> None:
        (role,) = self.segments.made[unit.value.tensor]
        context = self.out(unit.value, role)
        for text, heads in enumerate(unit.heads):
            rows, keys = heads[0].query.rows, heads[0].key.rows
            end = f"text{text}"
            numerators = self.builder.tensor(
                Tensor(f"{name}.numerators.{end}", "uint8", len(heads) * rows, keys)
            )
            sums = self.builder.tensor(Tensor(f"{name}.sums.{end}", "int32", len(heads) * rows, 1))
            for number, head in enumerate(heads):
                part = {"row": number * rows, "rows": rows}
                one, totals = numerators.part(**part), sums.part(**part)
                place = f"{end}.head{number}"
                if unit.keys:
                    self.keys[f"{name}.scores.{place}"] = (unit.keys, text)
                self._scores(f"{name}.scores.{place}", unit, head, one, totals)
                finish = DivideBySums(totals, self._weighing(name, unit, head, role))
                out = context.part(
                    row=head.out.row, rows=rows, col=head.out.col, cols=head.out.cols
                )
                value = self.read(head.value, "heads")
                self.builder.matmul(f"{name}.context.{place}", out, one, value, finish)

    def _scores(self, name: str, unit: Attention, head: Head, out: View, totals: View) -> None:
        steps = only(self.steps(head.query, "heads") * self.steps(head.key, "heads"))
        onto = None if head.onto is None else self.read(head.onto, "onto")
        row = onto is not None and onto.rows < out.rows
        scale = float(np.float32(unit.scale * steps * 2**EXPONENT_FRACTION_BITS))
        mask = head.mask
        if self.moving and head.first_row is not None:
            mask = Mask(causal=True, first_row=head.first_row, moving=True)
        self.builder.matmul(
            name,
            out,
            self.read(head.query, "heads"),
            self.read(head.key, "heads"),
            DeferredSoftmax(scale, totals, mask, self.formats.may_wait(unit, out.cols)),
            bias=onto if row else None,
            onto=None if row else onto,
            b_transposed=True,
        )

    def _weighing(self, name: str, unit: Attention, head: Head, role: Role) -> float | View:
        """The scale of a head's result: one number, if it is the same in each column."""
        scales = self._scales(unit, head, role)
        if self.formats.alike_heads:
            last = self._scales(unit, unit.heads[-1][-1], role)
            scales = last if is_one(np.concatenate([scales, last])) else scales
        if is_one(scales):
            return float(scales[0])
        return self.scale(f"{name}.scale.{head.out.col}.{head.value.col}", scales)

    def _scales(self, unit: Attention, head: Head, role: Role) -> NDArray[np.float64]:
        """The scale of each column of a head's result."""
        steps = self.format(Form(unit.value.key, role)).steps
        steps = steps[head.out.col : head.out.col + head.out.cols]
        return self.steps(head.value, "heads") / steps / 2**CONTEXT_FRACTION_BITS
