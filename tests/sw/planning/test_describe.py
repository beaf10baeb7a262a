"""Plans of products in words, which are stable."""

import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.decisions.decide import decide
from celosia.sw.planning.describe import describe_product
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
