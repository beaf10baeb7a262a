"""All levels print, read back as they were, and are refused where their text is wrong."""

import re
from dataclasses import replace

import pytest

from celosia.lab.fuzz.graphs.random_graph import random_case
from celosia.sw.mlir.operation import print_operation
from celosia.sw.mlir.parser import parse_operation
from celosia.sw.mlir.same import differing
from celosia.sw.models.lowering.print import level_operation
from celosia.sw.models.lowering.read import level_of_operation
from tests.sw.models.lowering.levels_of import CONFIG, below, model_levels, product_levels

GRAPH, PLAN, PROGRAM, ORDERED, COMMANDS = product_levels()


def text_of(value):
    operation, arrays = level_operation(value)
    return print_operation(operation), arrays


def assert_comes_back(value):
    text, arrays = text_of(value)
    found = level_of_operation(parse_operation(text), arrays)
    assert differing(value, found) is None
    assert text_of(found)[0] == text
    text.encode("ascii")


@pytest.mark.parametrize("value", [*product_levels(), *model_levels()])
def test_every_level_reads_back_as_it_was(value):
    assert_comes_back(value)


@pytest.mark.parametrize("seed", [1, 2])
def test_what_becomes_of_a_random_graph_reads_back_as_it_was(seed):
    assert_all_come_back(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 160))
def test_what_becomes_of_random_graphs_reads_back_as_it_was(seed):
    assert_all_come_back(seed)


def assert_all_come_back(seed):
    case = random_case(seed)
    for value in below(case.graph, None):
        assert_comes_back(value)


def test_a_model_holds_two_segments_with_the_host_between_them():
    model, *lower = model_levels()
    assert len(model.segments) == 2
    assert [node.op for node in model.host[1]] == ["sin"]
    text, arrays = text_of(model)
    order = [text.index(each) for each in ("nn.input", "cel.segment", "nn.sin", "nn.return")]
    assert order == sorted(order)
    assert text.count('"cel.segment"') == 2
    assert {"0/", "1/"} <= {name[:2] for name in arrays}
    for value in lower:
        assert text_of(value)[0].count('"cel.lowered"') == 2


def refused(value, before, after, message, arrays=None):
    text, known = text_of(value)
    assert before in text
    with pytest.raises(ValueError, match=rf"^line \d+, column \d+: .*{re.escape(message)}"):
        level_of_operation(
            parse_operation(text.replace(before, after, 1)), known if arrays is None else arrays
        )


@pytest.mark.parametrize(
    ("value", "before", "after", "message"),
    [
        (PLAN, "cel.lowered", "cel.lower", "it is none of nn.graph, cel.graph, cel.model, cel.low"),
        (PLAN, "bus_bits = 32", "bus_bits = 33", "cel.lowered: bus_bits"),
        (PLAN, "bus_bits = 32", "no = 32", "cel.lowered: config.no: there is no such field"),
        (PLAN, '"cel.plan"()', '"cel.plans"()', "it holds cel.graph, cel.plans, none of"),
        (PLAN, "rows = [4", "rows = [5", "cel.plan: "),
        (PLAN, "rows = [4 : i64", 'rows = ["4"', "cel.plan.linear: stages.rows"),
        (PLAN, 'space = "scratchpad"', 'space = "pad"', "cel.plan.rings: rings.space: 'pad'"),
        (PLAN, 'at = "sums"', 'at = "sum"', "cel.plan: "),
        (PROGRAM, "cel.program.load", "cel.program.lift", "it is none of cel.program.load, "),
        (PROGRAM, 'operator = "', 'operator = "no ', "operator: the graph has no 'no "),
        (PROGRAM, 'space = "scratchpad"}', 'space = "pad"}', "load.to.space: 'pad' is none of"),
        (PROGRAM, "row = 0", "row = 1", "cel.program: "),
        (COMMANDS, "mvin ", "move ", "cel.commands: program["),
        (COMMANDS, 'addresses"() {at = "', 'addresses"() {at = "x', "the graph has no tensor 'x"),
        (COMMANDS, "value = 21", "value = 11", "is not within 0x80000000..0x"),
        (COMMANDS, "end = ", "ends = ", "there is no such field"),
    ],
)  # fmt: skip
def test_a_text_with_an_error_is_refused_with_its_place_and_the_rule(value, before, after, message):
    refused(value, before, after, message)


def test_scales_that_the_config_does_not_take_are_refused():
    graph = replace(PLAN.graphs[0], config=replace(CONFIG, scale_bits=8))
    refused(replace(PLAN, graphs=(graph,)), "dim = 4", "dim = 4", "more than the 8 bits")


def test_arrays_that_are_not_there_are_named():
    refused(PLAN, "cel", "cel", "there is no value of resource", {})
    refused(model_levels()[0], "cel", "cel", "there is no value of resource", {})


@pytest.mark.parametrize(
    ("level", "before", "after", "message"),
    [
        (0, "cel.model.formats", "cel.model.format", "it is none of"),
        (0, '"cel.read"() {name = "', '"cel.read"() {name = "no ', "reads: no form of no "),
        (0, '"cel.segment"() ({\n    "cel.graph"', '"cel.segment"() ({\n    "cel.plan"', "it does"),
        (0, 'role = "', 'role = "no', "is none of 'wide'"),
        (1, '"cel.plan"', '"cel.plan.x"', "it holds cel.graph, cel.plan.x"),
    ],
)
def test_a_model_with_an_error_is_refused_with_its_place(level, before, after, message):
    refused(model_levels()[level], before, after, message)


def test_segments_of_a_model_are_of_one_level():
    _, plans, programs, _, _ = model_levels()
    text, arrays = text_of(plans)
    other, more = text_of(programs)
    at, there = text.rindex('"cel.segment"'), other.rindex('"cel.segment"')
    with pytest.raises(ValueError, match="its segments are not all of one level"):
        level_of_operation(parse_operation(text[:at] + other[there:]), {**arrays, **more})
