"""Which operators are shown together, and that no cycle is lost or counted twice."""

from types import SimpleNamespace
from typing import Any

import pytest

from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_PRODUCTS,
    FENCE,
    PRODUCTS,
    Funct,
)
from celosia.isa.operations.loops import expand
from celosia.isa.presets import PRESETS
from celosia.sim.profile.operator_groups import (
    Cut,
    Group,
    add_predicted,
    add_up,
    command_operators,
    cut_program,
    group_name,
    group_operators,
    operator_commands,
)
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph import Mask
from celosia.sw.models.cases import attention_case, layernorm_case, random_quantized_encoder
from celosia.sw.reference.encoder import EncoderShape

SHAPE = EncoderShape(layers=2, width=16, heads=2, hidden=32)
GRAPH = random_quantized_encoder(SHAPE, 0).graph([3, 5])
LAYER = ("query", "key", "value", "attention", "output + norm", "up", "down + norm")


@pytest.mark.parametrize(
    ("operator", "group"),
    [
        ("norm", "norm"),
        ("softmax", "softmax"),
        ("scores.head3", "attention"),
        ("context.head0", "attention"),
        ("3.query", "3.query"),
        ("11.scores.text2.head3", "11.attention"),
        ("11.context.text2.head3", "11.attention"),
        ("0.output", "0.output + norm"),
        ("0.attention_norm", "0.output + norm"),
        ("0.up", "0.up"),
        ("0.down", "0.down + norm"),
        ("0.norm", "0.down + norm"),
    ],
)
def test_the_group_of_an_operator(operator, group):
    assert group_name(operator) == group


def test_an_encoder_has_a_group_for_each_layer_and_kind():
    groups = group_operators(GRAPH, 4)
    names = [f"{layer}.{kind}" for layer in range(2) for kind in LAYER]
    assert [group.name for group in groups] == ["norm", *names]
    assert sum(group.macs for group in groups) == GRAPH.macs
    assert sorted(name for group in groups for name in group.operators) == sorted(
        op.name for op in GRAPH.ops
    )


def test_every_tensor_that_is_written_is_of_one_group():
    written = [tensor for group in group_operators(GRAPH, 4) for tensor in group.tensors]
    assert sorted(written) == sorted(set(GRAPH.tensors) - set(GRAPH.constants) - set(GRAPH.inputs))


def test_the_heads_of_an_attention_are_one_group():
    (group,) = group_operators(attention_case(3, 9, 8, 0).graph, 4)
    assert group.name == "attention"
    assert len(group.operators) == 6
    assert group.tensors == ("numerators", "sums", "context")


def test_tiles_that_no_row_sees_are_no_work():
    (group,) = group_operators(attention_case(1, 16, 8, 0, mask=Mask(causal=True)).graph, 4)
    assert group.macs == 2 * 8 * 4 * 4 * (1 + 2 + 3 + 4)


def test_a_program_is_cut_where_products_of_another_group_follow():
    one, two, other = COMPUTE_PRELOADED.encode(), COMPUTE_ACCUMULATED.encode(), FENCE.encode()
    parts = [
        ("", [other]),
        ("0.query", [one]),
        ("0.key", [other]),
        ("0.query", [two]),
        ("0.key", [one]),
        ("0.scores.head0", [one]),
        ("0.context.head0", [one]),
        ("0.key", [other]),
    ]
    assert cut_program(parts) == (Cut(1, "0.query"), Cut(4, "0.key"), Cut(5, "0.attention"))


def test_a_nest_of_products_has_the_first_behind_a_preload():
    nest = PRODUCTS.encode(rows=4, k=3, pieces=2, columns=2, last_depth=4, last_cols=4)
    parts = [
        ("", [FENCE.encode()]),
        ("0.query", [nest]),
        ("0.key", [CONFIG_PRODUCTS.encode(), nest]),
    ]
    assert cut_program(parts) == (Cut(2, "0.query"), Cut(1 + 2 * 12 + 1, "0.key"))


def test_a_compiled_encoder_is_cut_into_its_groups():
    """Each command of the expanded program is looked at."""
    compiled = compile_graph(GRAPH, PRESETS["tiny"])
    expanded = [command for _, command in expand(compiled.program, PRESETS["tiny"])]
    cuts = cut_program(operator_commands(compiled))
    names = {group.name for group in group_operators(GRAPH, 4)}
    assert {cut.group for cut in cuts} == names - {"norm"}
    found, last = [], ""
    for place, (command, operator) in enumerate(
        zip(expanded, command_operators(compiled), strict=True)
    ):
        if command.funct == Funct.COMPUTE_PRELOADED and group_name(operator) != last:
            last = group_name(operator)
            found.append(Cut(place, last))
    assert list(cuts) == found


def test_a_program_without_products_is_not_cut():
    compiled = compile_graph(layernorm_case(5, 9, 0).graph, PRESETS["tiny"])
    assert cut_program(operator_commands(compiled)) == ()


def group(name):
    return Group(name=name, operators=(), macs=0, tensors=())


def test_what_is_counted_for_groups_adds_up():
    cuts = [Cut(3, "a"), Cut(5, "b"), Cut(9, "a")]
    marks = [{"cycles": 0, "drain": 0}, {"cycles": 10, "drain": 1}, {"cycles": 16, "drain": 1}]
    end = {"cycles": 40, "drain": 8}
    assert add_up([group("a"), group("b")], cuts, marks, end) == {
        "a": {"cycles": 34, "drain": 8},
        "b": {"cycles": 6, "drain": 0},
    }


def test_the_time_before_the_first_mark_is_the_first_groups():
    times = add_up([group("a")], [Cut(3, "a")], [{"cycles": 7}], {"cycles": 40})
    assert times == {"a": {"cycles": 40}}


def test_without_products_the_first_group_has_all():
    assert add_up([group("a"), group("b")], [], [], {"cycles": 40}) == {"a": {"cycles": 40}}


def test_predicted_cycles_are_those_of_all_operators_of_a_group():
    groups = [Group(name=name, operators=(), macs=0, tensors=()) for name in ("softmax", "other")]
    shares = [("0.scores.head0", 3), ("0.up", 5), ("0.context.head0", 4), ("0.scores.head1", 2)]
    prediction: Any = SimpleNamespace(cycles=20, shares=lambda: shares)
    assert add_predicted(groups, prediction) == {"0.attention": 9, "0.up": 5}
    # Without a product all of it is the first group's.
    prediction = SimpleNamespace(cycles=20, shares=list)
    assert add_predicted(groups, prediction) == {"softmax": 20}
