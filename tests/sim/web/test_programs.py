"""What the page can run."""

import re

import pytest

from celosia.isa.presets import PRESETS
from celosia.sim.web.programs import MACHINES, PROGRAMS
from celosia.sw.ir.graph import MatMul


def test_each_machine_has_the_unit_that_programs_need():
    assert [each.preset for each in MACHINES] == ["tiny", "small", "base"]
    assert all(each.config.normalization for each in MACHINES)
    assert MACHINES[0].config == PRESETS["tiny"]


def test_titles_say_how_large_the_array_is():
    assert [each.title for each in MACHINES] == [
        "tiny: 4x4",
        "small with the normalization unit: 8x8",
        "base: 16x16",
    ]


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "layer"])
def test_a_program_is_the_same_whenever_it_is_made(name):
    first, second = PROGRAMS[name].make(), PROGRAMS[name].make()
    assert first.inputs.keys() == second.inputs.keys()
    assert all((first.inputs[each] == second.inputs[each]).all() for each in first.inputs)


def test_titles_differ():
    assert len({choice.title for choice in PROGRAMS.values()}) == len(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_title_says_the_sizes_that_a_program_has(name):
    choice = PROGRAMS[name]
    graph = choice.make().graph
    said = [int(each) for each in re.findall(r"\d+", choice.title)]
    if name.endswith("product"):
        m, n, k = said
        (product,) = graph.ops
        assert isinstance(product, MatMul)
        assert (*product.out.shape, product.a.cols) == (m, n, k)
    elif name == "attention":
        heads, tokens, width = said
        assert sum("scores" in op.name for op in graph.ops) == heads
        assert graph.tensors["query"].shape == (tokens, heads * width)
    elif name == "layer":
        tokens, width, heads = said
        assert sum("scores" in op.name for op in graph.ops) == heads
        assert graph.tensors[graph.inputs[0]].shape == (tokens, width)
    else:
        (given,) = graph.inputs[:1]
        assert graph.tensors[given].shape == tuple(said)
