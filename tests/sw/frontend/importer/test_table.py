"""Every family of operators by onnx's own node tests: what is right and what is refused."""

from collections import Counter
from functools import cache

import pytest

from celosia.sw.frontend.importer.handlers.activations import ACTIVATIONS
from celosia.sw.frontend.importer.handlers.attention import ATTENTION
from celosia.sw.frontend.importer.handlers.elementwise import ELEMENTWISE
from celosia.sw.frontend.importer.handlers.indexing import INDEXING
from celosia.sw.frontend.importer.handlers.layout import LAYOUT
from celosia.sw.frontend.importer.handlers.norms import NORMS
from celosia.sw.frontend.importer.handlers.products import PRODUCTS
from celosia.sw.frontend.importer.handlers.quantized import QUANTIZED
from celosia.sw.frontend.importer.handlers.recurrent import RECURRENT
from celosia.sw.frontend.importer.handlers.reductions import REDUCTIONS
from celosia.sw.frontend.importer.handlers.resize import RESIZE
from celosia.sw.frontend.importer.handlers.shapes import SHAPES
from celosia.sw.frontend.importer.handlers.transposed import TRANSPOSED
from tests.sw.frontend.importer.node_cases import PAGE, cases, judge, operator

FAMILIES = {
    "activations": ACTIVATIONS,
    "attention": ATTENTION,
    "elementwise": ELEMENTWISE,
    "indexing": INDEXING,
    "layout": LAYOUT,
    "norms": NORMS,
    "products": PRODUCTS,
    "quantized": QUANTIZED,
    "recurrent": RECURRENT,
    "reductions": REDUCTIONS,
    "resize": RESIZE,
    "shapes": SHAPES,
    "transposed": TRANSPOSED,
}


@cache
def promised():
    """How many cases of each operator are right and refused, as `docs/onnx-node-tests.md` says."""
    rows = (line.split("|") for line in PAGE.read_text().splitlines() if line.startswith("| "))
    return {
        name.strip(): (int(right), int(refused))
        for _, name, right, refused, *_ in rows
        if right.strip().isdigit()
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_as_many_cases_of_each_operator_are_right_as_the_page_says(family):
    """A case that is neither right nor refused fails; results are onnx's."""
    found = Counter[tuple[str, bool]]()
    for case in cases():
        name = operator(case)
        if name in FAMILIES[family]:
            found[name, not judge(case)] += 1
    counts = {name: (found[name, True], found[name, False]) for name, _ in found}
    assert counts == {name: promised()[name] for name in counts}
    assert counts
