"""Predictions of products, against cycles that the RTL takes on Verilator."""

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul, MatMulAddresses
from celosia.sw.pipeline import compile_matmul

BASE = PRESETS["base"]
ADDRESSES = MatMulAddresses(a=1 << 20, b=2 << 20, c=3 << 20, bias=4 << 20)


@pytest.mark.parametrize(
    ("sizes", "form", "timing", "cycles"),
    [
        ((64, 64, 64), {}, {}, 1360),
        ((128, 128, 128), {}, {}, 8483),
        ((128, 128, 64), {"b_transposed": True}, {}, 4459),
        ((1, 768, 768), {}, {}, 37_347),
        ((512, 64, 512), {}, {}, 65_891),
        ((189, 124, 758), {}, {"latency": 1}, 72_882),
        ((688, 99, 465), {"scale": None}, {"latency": 20}, 144_945),
    ],
)
def test_predictions_are_near_the_rtl(sizes, form, timing, cycles):
    m, n, k = sizes
    problem = MatMul(m=m, n=n, k=k, **{"scale": 0.01, "bias": True, **form})
    memory = MemoryTiming(**timing)
    found = compile_matmul(problem, ADDRESSES, BASE, timing=memory).prediction.cycles
    assert found == pytest.approx(cycles, rel=0.02)
