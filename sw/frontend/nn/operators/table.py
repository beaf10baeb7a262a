"""The one list of operators of the float graph."""

from collections.abc import Mapping
from typing import Final

from celosia.isa.functions.table import ACTIVATIONS
from celosia.sw.frontend.nn.operators.elementwise import ELEMENTWISE
from celosia.sw.frontend.nn.operators.layout import LAYOUT
from celosia.sw.frontend.nn.operators.neural import NEURAL
from celosia.sw.frontend.nn.operators.operator import Operator, Reach
from celosia.sw.frontend.nn.operators.products import PRODUCTS
from celosia.sw.frontend.nn.operators.recurrent import RECURRENT
from celosia.sw.frontend.nn.operators.reductions import REDUCTIONS

__all__ = ["CURVES", "OPERATORS", "checked"]

_RECTIFIER: Final = "relu"
"""The curve that is a flag of requantization."""


def checked(operator: Operator) -> Operator:
    """The operator; raises `ValueError` for traits that lack, or contradict each other."""
    name, curve = operator.name, operator.curve
    if curve is None and name in ACTIVATIONS:
        raise ValueError(f"{name}: the accelerator has this curve, but its entry has no `curve`")
    if (curve or operator.written) and operator.reach is not Reach.ELEMENT:
        raise ValueError(
            f"{name}: `curve` and `written` need the reach element, not {operator.reach}"
        )
    if curve is None:
        return operator
    if name not in {*ACTIVATIONS, _RECTIFIER}:
        raise ValueError(f"{name}: its entry has a `curve`, but the accelerator has none")
    for form in curve(1.0):
        if form.keys() != operator.attributes.keys():
            given, known = (", ".join(each) or "none" for each in (form, operator.attributes))
            raise ValueError(f"{name}: its `curve` has the attributes {given}, not {known}")
    return operator


OPERATORS: Final[Mapping[str, Operator]] = {
    operator.name: checked(operator)
    for operator in (*ELEMENTWISE, *LAYOUT, *REDUCTIONS, *PRODUCTS, *NEURAL, *RECURRENT)
}
"""Every operator by its name."""

CURVES: Final = {name: each.curve for name, each in OPERATORS.items() if each.curve is not None}
"""The forms of each curve."""
