"""Plans, and cycles that they are expected to take, are those that were committed, for many graphs.

``test_frozen_programs.py`` compiles a few graphs to their ends.  Here are small ones of every kind,
near the bounds at which a plan changes, on four configurations, each with every choice that a plan
may be made by: a digest of all plans of a family, and the sums of the cycles that some of them are
expected to take on two memories.

python -m tests.sw.compiler.test_frozen_plans    prints what frozen_plans.json has
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from itertools import cycle, islice, product
from pathlib import Path

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.starts import plain_plan
from celosia.sw.decoding.texts import Text
from celosia.sw.ir.graph import Graph, Mask
from celosia.sw.ir.graph import MatMul as Product
from celosia.sw.ir.graphs.finishes import NO_MASK
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.cases import (
    activation_case,
    attention_case,
    layernorm_case,
    multiply_case,
    residual_case,
    rmsnorm_case,
    rotate_case,
    softmax_case,
)
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.planning.decisions.decide import ranked
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.text import print_plan
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.rules.verify import PlanError
from tests.sw.branches.test_costs import products
from tests.sw.models.decoder_runs import model

FROZEN = json.loads(Path(__file__).with_name("frozen_plans.json").read_text())
"""What is expected of each preset, by kind and family."""
PRESETS = {
    "products": ("tiny", "small", "base", "gemmini"),
    "attention": ("tiny", "base", "rebalanced"),
    "rows": ("tiny", "base"),
    "decoders": ("tiny", "base", "rebalanced"),
}
"""The configurations of each family: all but products need the normalization unit."""
MEMORIES = (MemoryTiming(), MemoryTiming(latency=60, bytes_per_cycle=4))
SIZES = (1, 4, 5, 16, 17, 40, 64)
"""On both sides of the sides of the arrays, 4, 8 and 16, and of blocks of these."""
LARGE = 4000
"""Elements of results of products with which following a program takes long."""


def of_product(m: int, n: int, k: int, **form: bool) -> Graph:
    return graph_of("matmul", MatMul(m=m, n=n, k=k, **{"scale": 0.01, **form}))


def of_products() -> Iterator[Graph]:
    for m, n, k in product(SIZES, (16, 33), (16, 70)):
        yield of_product(m, n, k)
        yield of_product(n, m, k, bias=True, relu=True)
    yield of_product(1, 768, 768)
    yield of_product(200, 72, 96, b_transposed=True)
    yield of_product(20, 40, 300, a_unsigned=True)
    yield graph_of("matmul", MatMul(m=64, n=32, k=512))
    yield products(3)


def of_attention() -> Iterator[Graph]:
    for rows, width in product((1, 5, 16, 33, 70, 150), (4, 32)):
        for mask in (NO_MASK, Mask(causal=True), Mask(causal=True, window=20)):
            yield attention_case(2, rows, width, 0, mask=mask).graph
    yield attention_case(1, 330, 64, 0).graph


def of_rows() -> Iterator[Graph]:
    for rows, cols in product((1, 16, 33), (8, 60, 300)):
        for case in (layernorm_case, rmsnorm_case, residual_case, softmax_case, multiply_case):
            yield case(rows, cols, 0).graph
        for function in ("gelu", "silu"):
            yield activation_case(function, rows, cols, 0).graph
        if not cols % 8:
            yield rotate_case(rows, cols, 0).graph


def of_decoders() -> Iterator[Graph]:
    for form in ("gpt2", "llama"):
        for texts in ((Text(0, 5),), (Text(9, 1),), (Text(40, 16),), (Text(9, 1), Text(30, 1))):
            yield from (part.graph for part in model(form).step(texts, 64).model.segments)


FAMILIES: dict[str, Callable[[], Iterator[Graph]]] = {
    "products": of_products,
    "attention": of_attention,
    "rows": of_rows,
    "decoders": of_decoders,
}


def plans(family: str, preset: str) -> str:
    """A digest of plans, and of what is said where there is none.

    Each graph has four plans, by the default choices and by three others, and every third one,
    about, one that decides nothing.
    """
    state, config = blake2b(digest_size=8), resolve_config(preset)
    others = cycle([each for *_, each in DEFAULT.others()])
    turns = cycle(product((True, False, False), MEMORIES))
    for graph, (plain, timing) in zip(FAMILIES[family](), turns, strict=False):
        decided = [partial(decide_graph, choices=each) for each in (DEFAULT, *islice(others, 3))]
        for decide in (*decided, *[plain_plan] * plain):
            try:
                state.update(print_plan(decide(graph, config)).encode())
            except ValueError as error:
                state.update(str(error).encode())
        with suppress(PlanError):
            for plan in ranked(graph, config, timing)[:3]:
                state.update(print_plan(plan).encode())
    return state.hexdigest()


def cycles(family: str, preset: str) -> list[int]:
    """The sums of cycles of some graphs, by schedulers and memories, which they take in turns."""
    config, sums = resolve_config(preset), [0] * 4
    graphs = islice(FAMILIES[family](), 0, 60, 2)
    turns = cycle(enumerate(product((False, True), MEMORIES)))
    for graph, (turn, (by_need, timing)) in zip(graphs, turns, strict=False):
        if sum(op.out.rows * op.out.cols for op in graph.ops if isinstance(op, Product)) < LARGE:
            with suppress(ValueError):
                plan = Choices(schedule_loads=by_need, spare_tiles=16 * by_need)
                sums[turn] += predict(graph, config, plan, timing).cycles
    return sums


KINDS = {"plans": plans, "cycles": cycles}


@pytest.mark.parametrize(("family", "preset"), [(f, p) for f in FAMILIES for p in PRESETS[f]])
@pytest.mark.parametrize("kind", KINDS)
def test_plans_are_those_that_were_committed(kind, family, preset):
    assert KINDS[kind](family, preset) == FROZEN[f"{kind} {family}"][preset]


if __name__ == "__main__":
    lines = [
        f'  "{kind} {family}": ' + json.dumps({each: make(family, each) for each in presets})
        for kind, make in KINDS.items()
        for family, presets in PRESETS.items()
    ]
    print("{\n" + ",\n".join(lines) + "\n}")
