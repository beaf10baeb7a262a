"""How many scales an accelerator rounds, and how far: of all graphs, and of several programs."""

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.ir.matmul import MatMul
from celosia.sw.passes.rounded_scales import RoundedScales, added, rounded_scales
from celosia.sw.planning.problems import graph_of

SHORT = resolve_config("tiny", ["scale_bits=8"])


def of(scale):
    return graph_of("it", MatMul(m=2, n=3, k=4, scale=scale))


def test_scales_of_all_graphs_are_counted_and_the_largest_change_is_told():
    """Steps of eight bits are 1/128 from 1 on: a half and a quarter of one are taken away."""
    near, far = 1 + 1 / 512, 1 + 1 / 256
    found = rounded_scales([of(0.5), of(far), of(near)], SHORT)
    assert found is not None
    assert (found.bits, found.scales, found.rounded) == (8, 3, 2)
    assert found.largest == pytest.approx(1 / 256 / far)
    assert rounded_scales([of(far)], resolve_config("tiny")) is None


def test_nothing_is_rounded_of_scales_that_are_short_already():
    assert rounded_scales([of(0.5), of(1.5)], SHORT) == RoundedScales(
        bits=8, scales=2, rounded=0, largest=0.0
    )


def test_what_was_rounded_in_several_programs_is_added():
    parts = [
        RoundedScales(bits=8, scales=3, rounded=2, largest=0.25),
        None,
        RoundedScales(bits=8, scales=10, rounded=1, largest=0.5),
        RoundedScales(bits=8, scales=4, rounded=4, largest=0.125),
    ]
    whole = RoundedScales(bits=8, scales=17, rounded=7, largest=0.5)
    assert added(parts) == added(reversed(parts)) == whole
    assert added([None, None]) is None
