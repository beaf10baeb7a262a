"""Differences of int16: what they are by hand, what is refused, and their text."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.ir.graph import Subtract
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.ir.graph_verify import verify
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.mlir.read_graph import parse_graph
from celosia.sw.passes.short_scales import short_scales
from tests.support.differences import difference_case

CASE = difference_case(1, 5, 0, scale=0.5, residual_scale=2.0)


def test_terms_are_rounded_and_saturate_and_so_does_their_sum():
    a = np.array([[7, 3, 30000, 1, -32768]], np.int16)
    b = np.array([[2, -1, -100, 20000, 16000]], np.int16)
    # 3.5 is rounded to 4 and 1.5 to 2; 2 * 20000 saturates to 32767, negative to -32768.
    wanted = [[4 - 4, 2 + 2, 15000 + 200, 0 - 32768, -32768]]
    assert interpret(CASE.graph, {"a": a, "b": b})["out"].tolist() == wanted


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": float("nan")}, "scale: nan is not a finite float32"),
        ({"residual_scale": 1e39}, "scale: 1e"),
        ({"b": CASE.graph.ops[0].operands[1].part(cols=4)}, r"b: b\[0:1, 0:4\] is 1x4, not 1x5"),
    ],
)
def test_what_is_refused(change, message):
    graph = replace(CASE.graph, ops=(replace(CASE.graph.ops[0], **change),))
    with pytest.raises(ValueError, match=message):
        verify(graph)


def test_its_scales_are_as_short_as_the_accelerator_takes_them():
    config = PRESETS["tiny"].with_values({"normalization": True, "scale_bits": 8})
    graph = difference_case(1, 5, 0, scale=1 / 3, residual_scale=1 / 7).graph
    (op,) = short_scales(graph, config).ops
    assert isinstance(op, Subtract)
    assert list(op.scales.values()) == [171 / 512, -146 / 1024]


def test_its_text_is_read_back():
    text = print_graph(CASE.graph)
    assert '"cel.subtract"' in text
    assert parse_graph(text, {}).ops == CASE.graph.ops
    assert str(CASE.graph.ops[0]) == (
        "subtract: out[0:1, 0:5] = subtract a[0:1, 0:5] 0.5, b[0:1, 0:5] 2.0"
    )
