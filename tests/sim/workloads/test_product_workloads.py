"""Products and the memory that they need."""

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.workloads.operands import Operands
from celosia.sim.workloads.product_workloads import Operator, device_bytes
from celosia.sw.ir.matmul import MatMul

MIB = 1 << 20
NOTHING = np.zeros((1, 1), np.int8)


def operator(**problem):
    return Operator("product", Operands(MatMul(**problem), NOTHING, NOTHING, None))


@pytest.mark.parametrize(
    ("problem", "mib"),
    [
        # A and B have k bytes each; bias and C four bytes; 256 are for four alignments.
        ({"m": 1, "n": 1, "k": (MIB - 8 - 256) // 2}, 1),
        ({"m": 1, "n": 1, "k": (MIB - 8 - 256) // 2 + 1}, 2),
        ({"m": 1, "n": 1, "k": 1}, 1),
        ({"m": 1024, "n": 1024, "k": 1}, 5),  # C alone has 4 MiB.
        ({"m": 1024, "n": 1024, "k": 1, "scale": 0.5}, 2),
        ({"m": 1024, "n": 1, "k": 3072}, 4),
        ({"m": 1, "n": 1024, "k": 3072}, 4),
    ],
)
def test_memory_is_as_many_mib_as_all_arrays_need(problem, mib):
    assert device_bytes([operator(**problem)]) == mib * MIB


def test_of_several_products_the_largest_decides():
    small, large = operator(m=1, n=1, k=1), operator(m=1024, n=1024, k=1, scale=0.5)
    assert device_bytes([small, large, small]) == device_bytes([large]) == 2 * MIB


@pytest.mark.parametrize(("bits", "scale"), [(24, 1 / 3), (8, 0.333984375)])
def test_a_scale_has_as_many_bits_as_the_accelerator_takes(bits, scale):
    """8 bits of 1/3 are 171/512."""
    config = resolve_config("tiny", [f"scale_bits={bits}"])
    short = operator(m=1, n=1, k=1, scale=1 / 3).with_short_scale(config)
    assert short.operands.problem.scale == pytest.approx(scale, rel=1e-7)
    assert short.name == "product"
    wide = operator(m=1, n=1, k=1)
    assert wide.with_short_scale(config) is wide
