"""Plans of products in words, which are stable."""

from types import SimpleNamespace
from typing import Any

import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.ir.graph import MatMul as MatMulOp
from celosia.sw.ir.graph import Requantize, View
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.decisions.decide import decide
from celosia.sw.planning.describe import _heads, describe_product
from celosia.sw.planning.problems import graph_of

BASE = PRESETS["base"]


@pytest.mark.parametrize(
    ("problem", "lines"),
    [
        (
            MatMul(m=128, n=128, k=128, bias=True, scale=1.0),
            {
                "blocks": "rows 4 x 32, tiles 8, rows outermost",
                "A": "pieces of 4 tiles (first 1), streamed, "
                "rows 0..4095 and 4096..8191 of the scratchpad",
                "B": "pieces of 1x4 tiles, kept, "
                "rows 8192..12287 and 12288..16383 of the scratchpad",
                "C": "4 tiles leave together; last block: 7+1",
                "double-buffered": "accumulator, by halves; 12 loads ahead of their use",
            },
        ),
        (
            MatMul(m=1, n=768, k=768, scale=1.0),
            {
                "blocks": "rows 1, tiles 2 x 24, rows outermost",
                "A": "pieces of 4 tiles (first 4), kept, rows 0..4095 of the scratchpad",
                "B": "pieces of 1x4 tiles, streamed, "
                "rows 4096..8191 and 8192..12287 and 12288..16383 of the scratchpad",
                "C": "4 tiles leave together; last block: at once",
                "double-buffered": "accumulator, by halves; 12 loads ahead of their use",
            },
        ),
    ],
    ids=["resident", "vector"],
)
def test_the_choice_is_printable_and_stable(problem, lines):
    plan = decide(graph_of("product", problem), BASE)
    assert dict(describe_product(plan, BASE)) == lines


def product(name, rows, inner, cols):
    return MatMulOp(
        name=name,
        out=View(name, 0, 0, rows, cols),
        a=View("a", 0, 0, rows, inner),
        b=View("b", 0, 0, inner, cols),
        finish=Requantize(1.0),
    )


@pytest.mark.parametrize(
    ("keys", "spill", "rings", "words"),
    [
        ((50,), None, "kv", "all scores of a block at once; keys and values stay until the next"),
        (
            (32, 18),
            None,
            "kk",
            "scores of 32 keys at a time, for the maximum and once again; keys and values are "
            "streamed for each block",
        ),
        (
            (18, 32),
            "spill",
            "kv",
            "scores of 32 keys at a time, for the maximum and back from memory, where they wait "
            "as int16; keys and values stay until the next head",
        ),
    ],
)
def test_heads_are_told_with_their_tallest_block(keys, spill, rings, words):
    """20 queries of 8 columns, 50 keys, values of 12: blocks of 6, 8 and 6 rows."""
    ops = {"s": product("s", 20, 8, 50), "c": product("c", 20, 50, 12)}
    k, v = (SimpleNamespace(ring=ring) for ring in rings)
    group: Any = SimpleNamespace(
        heads=[("s", "c")], rows=(6, 8, 6), keys=keys, spill=spill, k=k, v=v
    )
    text = _heads(group, ops)
    begin = "20 queries and 50 keys of 8, values of 12: blocks of up to 8 rows; "
    assert text.startswith(begin + words)
