"""Each substitution on graphs of integers leaves the same integers behind, and does something."""

from collections import Counter

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.graphs.levels import check_levels
from celosia.lab.graphs.rewritable import Sizes, classifier
from celosia.lab.substitute.integers.edit import Edit, Moved
from celosia.lab.substitute.integers.level import INTEGER
from celosia.lab.substitute.integers.prove import difference, random_tensor
from celosia.lab.substitute.integers.reader import IntegerReader
from celosia.lab.substitute.integers.table import SUBSTITUTIONS
from celosia.lab.substitute.optimize import differing_integers
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.ir.graph import (
    DeferredSoftmax,
    DivideBySums,
    LayerNorm,
    Mask,
    MatMul,
    Normalized,
    Requantize,
    Tensor,
)
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.models.cases import Case
from celosia.sw.planning.forms.groups import Heads, groups
from celosia.sw.quantize.graphs.sketch import sketch
from celosia.sw.rewriting.engine import exhaust, sweep
from tests.support.rewritable import rewritable_graph

RULES = {rule.name: rule for rule in SUBSTITUTIONS}
AFTER = {"close-gaps": ("drop-unread",), "drop-unread": ("split-products",)}
"""Rules that find more behind others."""
SEEDS = range(12)
KINDS = ("int8", "int16")


@pytest.mark.parametrize("name", RULES)
def test_a_substitution_is_exact_on_random_graphs_and_nothing_is_refused(name):
    found = Counter()
    for seed in SEEDS:
        graph = rewritable_graph(seed)
        for before in AFTER.get(name, ()):
            graph = exhaust(RULES[before], graph).graph
        done = exhaust(RULES[name], graph)
        found[bool(done.accepted)] += 1
        assert not done.refusals, [str(refusal) for refusal in done.refusals]
        assert done.graph.outputs == graph.outputs
        assert differing_integers(graph, done.graph, seed) is None
    assert found[True] >= 3


def test_all_together_compile_and_leave_the_same_integers():
    macs = Counter()
    for seed in range(3):
        graph = found = rewritable_graph(seed)
        for rule in (*SUBSTITUTIONS, RULES["drop-unread"], RULES["close-gaps"]):
            found = exhaust(rule, found).graph
        macs += Counter(before=graph.macs, after=found.macs)
        assert differing_integers(graph, found) is None
        random = np.random.default_rng(seed)
        inputs = {name: random_tensor(random, found.tensors[name]) for name in found.inputs}
        check_levels(Case(found, inputs), resolve_config("tiny"))
    assert macs["after"] < macs["before"]


def two_products(*, seed=0, zero=0):
    random, builder = np.random.default_rng(seed), GraphBuilder("two")
    x = builder.input(Tensor("x", "int8", 3, 4))
    outs = []
    for number in range(2):
        weights = random.integers(-9, 9, (4, 5)).astype(np.int8)
        out = builder.tensor(Tensor(f"out{number}", "uint8", 3, 5))
        finish = Requantize(0.5, zero_point=zero * number)
        builder.matmul(f"p{number}", out, x, builder.constant(f"w{number}", weights), finish)
        outs.append(out)
    last = builder.tensor(Tensor("last", "int8", 3, 5))
    wide = builder.constant("w", random.integers(-9, 9, (5, 5)).astype(np.int8))
    for number, out in enumerate(outs):
        last = builder.tensor(Tensor(f"last{number}", "int8", 3, 5))
        builder.matmul(f"q{number}", last, out, wide, Requantize(0.1))
    return builder.finish("last0", "last1")


def test_products_that_share_their_input_become_one_whose_parts_are_read():
    done = sweep(RULES["merge-products"], two_products())
    product, *readers = (op for op in done.graph.ops if isinstance(op, MatMul))
    assert product.out.shape == (3, 10)
    assert [op.a.col for op in readers] == [0, 5]
    assert {op.a.tensor for op in readers} == {product.out.tensor}
    assert not sweep(RULES["merge-products"], two_products(zero=7)).accepted


def test_a_causal_head_of_which_one_row_is_read_sees_the_same_keys():
    builder = GraphBuilder("causal")
    q, k, v = (builder.input(Tensor(name, "int8", 9, 4)) for name in "qkv")
    scores = builder.tensor(Tensor("scores", "uint8", 9, 9))
    sums = builder.tensor(Tensor("sums", "int32", 9, 1))
    context = builder.tensor(Tensor("context", "int8", 9, 4))
    softmax = DeferredSoftmax(0.05, sums, Mask(causal=True))
    builder.matmul("scores", scores, q, k, softmax, b_transposed=True)
    builder.matmul("context", context, scores, v, DivideBySums(sums, 2.0**-14))
    last = builder.tensor(Tensor("last", "int8", 1, 4))
    weights = builder.constant("w", np.eye(4, dtype=np.int8))
    builder.matmul("last", last, context.part(row=5, rows=1), weights, Requantize(1.0))
    graph = builder.finish("last")
    done = exhaust(RULES["drop-unread"], graph)
    assert not done.refusals
    found = done.graph.ops[0]
    assert isinstance(found, MatMul)
    assert isinstance(found.finish, DeferredSoftmax)
    assert (found.out.rows, found.finish.mask.first_row) == (1, 5)
    assert differing_integers(graph, done.graph) is None


@pytest.mark.parametrize("wanted", [(0,), (1,), (0, 1)])
def test_of_two_outputs_of_a_normalization_those_stay_that_somebody_reads(wanted):
    builder = GraphBuilder("two")
    x = builder.input(Tensor("x", "int16", 3, 8))
    gamma = builder.constant("gamma", np.full((1, 8), 1 << 9, np.int16))
    beta = builder.constant("beta", np.zeros((1, 8), np.int32))
    outs = [builder.tensor(Tensor(f"out{n}", kind, 3, 8)) for n, kind in enumerate(KINDS)]
    builder.layernorm("norm", x, [Normalized(out, gamma, beta, 9) for out in outs])
    graph = builder.finish(*(f"out{n}" for n in wanted))
    done = exhaust(RULES["drop-unread"], graph)
    assert not done.refusals
    (norm,) = done.graph.ops
    assert isinstance(norm, LayerNorm)
    assert [each.out.tensor for each in norm.outputs] == [f"out{n}" for n in wanted]
    assert differing_integers(graph, done.graph) is None


def test_an_edit_that_is_wrong_is_not_proved():
    reader = IntegerReader(two_products())
    one, other = reader.ops["p0"], reader.ops["p1"]
    moved = {"out1": (Moved.by("out0", (3, 5)),)}
    wrong = Edit(what="wrong", removed=(one, other), added=(one,), moved=moved)
    assert "elements of out1 differ" in str(difference(reader, wrong))
    gone = Edit(what="gone", removed=(one,), added=())
    assert difference(reader, gone) == "nothing computes out0 any more"
    assert INTEGER.likeness(reader, wrong) != INTEGER.likeness(reader, gone)


def test_heads_of_which_one_row_is_read_still_are_pairs():
    graph = recognize(classifier(Sizes(layers=1, width=16, heads=2, hidden=16, tokens=6))).graph
    (segment,), _ = sketch(graph)
    for name in ("drop-unread", "close-gaps"):
        segment = exhaust(RULES[name], segment).graph
    heads = [each for each in groups(segment, fused_norms=True) if isinstance(each, Heads)]
    assert [len(each.heads) for each in heads] == [2]
    assert {head.scores.out.rows for head in heads[0].heads} == {1}
