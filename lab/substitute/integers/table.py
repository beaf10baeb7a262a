"""The table of substitutions on graphs of integers."""

from typing import Any, Final

from celosia.lab.substitute.integers.level import INTEGER
from celosia.lab.substitute.integers.merge import (
    find_equal,
    find_shared_inputs,
    find_shared_norms,
)
from celosia.lab.substitute.integers.simplify import (
    find_finishes,
    find_plain_parameters,
    find_transposed_weights,
)
from celosia.lab.substitute.integers.split import find_splits
from celosia.lab.substitute.integers.unread import find_unread, find_unwritten
from celosia.sw.rewriting.engine import Rule

__all__ = ["SUBSTITUTIONS"]

SUBSTITUTIONS: Final[tuple[Rule[Any, Any, Any], ...]] = (
    Rule(
        name="drop-unread",
        summary="Operators, and rows and columns of them, that nobody reads are not computed.",
        level=INTEGER,
        find=find_unread,
    ),
    Rule(
        name="close-gaps",
        summary="Tensors have no rows and columns that nobody writes.",
        level=INTEGER,
        find=find_unwritten,
    ),
    Rule(
        name="merge-products",
        summary="Products that share their input and their kind of finish are one product.",
        level=INTEGER,
        find=find_shared_inputs,
    ),
    Rule(
        name="split-products",
        summary="A product whose columns are read for different rows is one for each of these.",
        level=INTEGER,
        find=find_splits,
    ),
    Rule(
        name="share-norms",
        summary="Two normalizations of the same rows are one with two results.",
        level=INTEGER,
        find=find_shared_norms,
    ),
    Rule(
        name="share-equal",
        summary="Operators that compute the same from the same are one.",
        level=INTEGER,
        find=find_equal,
    ),
    Rule(
        name="fold-transposes",
        summary="Weights that are read transposed stand in memory as they are needed.",
        level=INTEGER,
        find=find_transposed_weights,
    ),
    Rule(
        name="finish-in-product",
        summary="Sums that one operator finishes are finished by their product.",
        level=INTEGER,
        find=find_finishes,
    ),
    Rule(
        name="plain-parameters",
        summary="A bias of zeros goes; one scale for each column, all the same, is one number.",
        level=INTEGER,
        find=find_plain_parameters,
    ),
)
"""The substitutions, in the order in which they are tried."""
