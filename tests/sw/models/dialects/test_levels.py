"""xDSL parses and verifies what all levels print, and refuses elements that are no records."""

import re

import pytest

from celosia.sw.frontend.dialects.text import print_through_xdsl
from celosia.sw.mlir.operation import print_operation
from celosia.sw.mlir.same import differing
from celosia.sw.models.dialects.levels import LEVELS, parse_level
from celosia.sw.models.lowering.print import level_operation
from celosia.sw.models.lowering.read import level_of_operation
from tests.sw.models.lowering.levels_of import model_levels, product_levels


@pytest.mark.parametrize("value", [*product_levels(), *model_levels()])
def test_every_level_comes_back_through_xdsl(value):
    operation, arrays = level_operation(value)
    for text in (print_operation(operation), print_through_xdsl(operation, LEVELS)):
        assert differing(value, level_of_operation(parse_level(text), arrays)) is None


def test_each_level_is_a_dialect_with_an_operation_for_each_kind_of_stage_and_operation():
    names = {dialect.name: {op.name for op in dialect.operations} for dialect in LEVELS}
    assert {"cel.plan.linear", "cel.plan.attention", "cel.plan.rings"} <= names["cel.plan"]
    assert names["cel.program"] == {
        "cel.program",
        "cel.program.load",
        "cel.program.load_parameters",
        "cel.program.products",
        "cel.program.transform",
        "cel.program.store",
    }


@pytest.mark.parametrize(
    ("number", "before", "after", "message"),
    [
        (1, "tiles = [", "tyles = [", "cel.plan.linear: stages.tyles: there is no such field"),
        (1, "spans = [[0 : i64", 'spans = [["0"', "cel.plan.rings: rings.spans[0][0]: "),
        (2, "pitch = ", "lines = ", "cel.program.load: load.to.lines: there is no such field"),
        (2, "cel.program.load", "cel.program.lift", "cel.program.lift"),
        (4, "value = 2147483648 : i64", 'value = "0"', "cel.commands.addresses: addresses: '0'"),
    ],
)
def test_what_is_no_record_is_refused_at_its_place(number, before, after, message):
    text = print_operation(level_operation(product_levels()[number])[0])
    assert before in text
    with pytest.raises(ValueError, match=rf"^line \d+, column \d+: .*{re.escape(message)}"):
        parse_level(text.replace(before, after, 1))


def test_a_text_is_one_graph_of_some_level():
    text = print_operation(level_operation(product_levels()[0])[0])
    known = "cel.graph or cel.model or cel.lowered is expected, not cel.graph, cel.graph"
    with pytest.raises(ValueError, match=rf"^line 1, column 1: one nn.graph or {known}"):
        parse_level(text + text)
