"""The table of substitutions on the float graph."""

from typing import Any, Final

from celosia.lab.substitute.floats.concats import (
    find_concatenated_products,
    find_concatenated_sums,
    find_heads_apart,
)
from celosia.lab.substitute.floats.products import (
    find_factors,
    find_left_products,
    find_right_products,
    find_sums_of_products,
)
from celosia.lab.substitute.floats.slices import find_late_slices
from celosia.lab.substitute.floats.twins import find_twins
from celosia.sw.frontend.recognize.rewrite import FLOAT
from celosia.sw.rewriting.engine import Rule

__all__ = ["FLOAT_SUBSTITUTIONS"]

FLOAT_SUBSTITUTIONS: Final[tuple[Rule[Any, Any, Any], ...]] = (
    Rule(
        name="batch-twins",
        summary="Two inputs that the same weights are for become samples of one batch.",
        level=FLOAT,
        find=find_twins,
    ),
    Rule(
        name="fold-factors",
        summary="A product with weights times a number, or one for each column: other weights.",
        level=FLOAT,
        find=find_factors,
    ),
    Rule(
        name="associate-right",
        summary="(a b) c becomes a (b c).",
        level=FLOAT,
        find=find_left_products,
    ),
    Rule(
        name="associate-left",
        summary="a (b c) becomes (a b) c.",
        level=FLOAT,
        find=find_right_products,
    ),
    Rule(
        name="merge-sums",
        summary="x a + x b becomes x (a + b), with the biases of both.",
        level=FLOAT,
        find=find_sums_of_products,
    ),
    Rule(
        name="merge-concatenated",
        summary="Products of one tensor beside each other become one, with weights that are.",
        level=FLOAT,
        find=find_concatenated_products,
    ),
    Rule(
        name="early-concatenations",
        summary="Sums with biases beside each other become a sum of what is beside each other.",
        level=FLOAT,
        find=find_concatenated_sums,
    ),
    Rule(
        name="gather-heads",
        summary="Heads of tensors of their own become heads of one tensor.",
        level=FLOAT,
        find=find_heads_apart,
    ),
    Rule(
        name="early-slices",
        summary="A slice of what an operator makes becomes the operator on slices.",
        level=FLOAT,
        find=find_late_slices,
    ),
)
"""The substitutions, in the order in which they are tried."""
