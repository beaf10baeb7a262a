"""Random work for the cost model."""

from collections import Counter

from celosia.isa.memory import MemoryTiming
from celosia.lab.accuracy.cost_cases import CostCase, operator_cases, random_cases


def test_seeds_give_the_same_cases_and_all_kinds():
    cases = random_cases(200)
    assert cases == random_cases(200)
    assert cases[10:20] == random_cases(10, 10)
    kinds = Counter(case.kind for case in cases)
    assert len(kinds) == 8
    assert {case.preset for case in cases} == {"tiny", "small", "base", "rebalanced"}
    assert len({case.timing.latency for case in cases}) > 5
    assert all(case.config.normalization for case in cases)


def test_a_case_is_a_product_or_a_graph():
    timing = MemoryTiming(latency=5, bytes_per_cycle=4)
    form = (True, None, True)
    product = CostCase(kind="matmul", preset="tiny", timing=timing, sizes=(3, 4, 5), form=form)
    problem = product.product
    assert problem is not None
    assert (problem.m, problem.n, problem.k, problem.b_transposed, problem.scale) == (
        *(3, 4, 5),
        True,
        None,
    )
    assert product.name == "matmul 3x4x5 B^T int32 on tiny, latency 5, 4 B/cycle"
    for kind, sizes in (
        ("gelu", (3, 8)),
        ("silu", (3, 8)),
        ("attention", (2, 5, 4)),
        ("encoder", (2, 4, 2, 1, 3, 4)),
        ("encoder-layer", (2, 4, 2, 1, 3)),
    ):
        case = CostCase(kind=kind, preset="tiny", timing=timing, sizes=sizes)
        assert case.product is None
        assert case.graph().graph.ops


def test_each_single_operator_is_there_with_each_type_of_its_results():
    cases = operator_cases()
    made = {(case.kind, case.form) for case in cases}
    kinds = {"softmax", "layernorm", "gelu", "silu", "hardswish", "residual"}
    assert {kind for kind, _ in made} == kinds
    assert {form for kind, form in made if kind == "softmax"} == {("uint8",), ("int8",), ("int16",)}
    assert len({case.name for case in cases}) == len(cases)
    (case,) = (
        c
        for c in cases
        if c.kind == "gelu" and c.form == ("int16",) and c.preset == "tiny" and c.sizes == (33, 70)
    )
    assert case.name == "gelu 33x70 to int16 on tiny, latency 40, 4 B/cycle"
    assert case.graph().graph.tensors["out"].type == "int16"
