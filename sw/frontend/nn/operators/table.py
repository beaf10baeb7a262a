"""The one list of operators of the float graph."""

from collections.abc import Mapping
from typing import Final

from celosia.sw.frontend.nn.operators.elementwise import ELEMENTWISE
from celosia.sw.frontend.nn.operators.layout import LAYOUT
from celosia.sw.frontend.nn.operators.neural import NEURAL
from celosia.sw.frontend.nn.operators.operator import Operator
from celosia.sw.frontend.nn.operators.products import PRODUCTS
from celosia.sw.frontend.nn.operators.reductions import REDUCTIONS

__all__ = ["OPERATORS"]

OPERATORS: Final[Mapping[str, Operator]] = {
    operator.name: operator for operator in (*ELEMENTWISE, *LAYOUT, *REDUCTIONS, *PRODUCTS, *NEURAL)
}
"""Every operator by its name."""
