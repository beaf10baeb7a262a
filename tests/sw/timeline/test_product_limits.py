"""The limits, against facts that were worked out without them."""

import math

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul
from celosia.sw.timeline.limits import Limit
from celosia.sw.timeline.product_limits import matmul_limit, total_limit

BASE = PRESETS["base"]
TIMING = MemoryTiming(latency=40, bytes_per_cycle=16)


def product(m, n, k, **form):
    return MatMul(m=m, n=n, k=k, **{"bias": True, "scale": 0.01, **form})


def limit(m, n, k, *, timing=TIMING, config=BASE, **form):
    return matmul_limit(product(m, n, k, **form), config, timing)


@pytest.mark.parametrize(
    ("shape", "percent"),
    # Of the peak if latency did not count: a little less with it.
    [((128, 128, 128), 99.0), ((512, 768, 768), 100.0), ((512, 512, 64), 99.9)],
)
def test_large_products_are_bound_by_the_array(shape, percent):
    found = limit(*shape)
    assert found.bound == "compute"
    assert found.compute == math.prod(shape) // 256
    utilization = 100 * math.prod(shape) / (256 * found.cycles)
    assert percent - 0.8 < utilization <= percent


def test_one_row_is_bound_by_the_weights_of_which_each_is_used_once():
    found = limit(1, 768, 768)
    assert found.bound == "reads"
    assert found.reads == (768 * 768 + 768 + 4 * 768) / 16
    assert found.compute == 768 * 768 // 16  # A tile of weights takes as long to enter.


def test_a_slow_memory_makes_every_product_memory_bound():
    slow = MemoryTiming(latency=40, bytes_per_cycle=1)
    found = limit(64, 64, 64, timing=slow)
    assert found.bound == "reads"
    assert found.cycles >= 2 * 64 * 64 + 4 * 64 + 80
    assert limit(64, 64, 4, timing=slow, scale=None).bound == "writes"


def test_bandwidth_beyond_the_bus_is_of_no_use():
    wide = MemoryTiming(latency=40, bytes_per_cycle=1024)
    assert limit(8, 64, 64, timing=wide) == limit(8, 64, 64)


def test_the_smallest_product_is_two_latencies_and_the_way_through():
    found = limit(1, 1, 1, bias=False)
    # Operands: 2 bytes, one beat.  The row enters after it and passes 16 rows of the array.
    assert found.cycles == 40 + 1 + 1 + 15 + 1 + 40


def test_every_latency_counts_twice():
    late = MemoryTiming(latency=100, bytes_per_cycle=16)
    assert limit(64, 64, 64, timing=late).cycles == limit(64, 64, 64).cycles + 2 * 60


@pytest.mark.parametrize("grown", [(65, 64, 64), (64, 80, 64), (64, 64, 80)])
def test_more_work_never_takes_less(grown):
    assert limit(*grown).cycles > limit(64, 64, 64).cycles


def test_parts_of_tiles_cost_whole_ones():
    assert limit(64, 65, 64).compute == limit(64, 80, 64).compute
    assert limit(64, 64, 65).compute == limit(64, 64, 80).compute


def test_a_sum_is_one_after_the_other():
    parts = [limit(64, 64, 64), limit(1, 768, 768)]
    both = total_limit(parts)
    assert both.cycles == sum(part.cycles for part in parts)
    assert both.reads == sum(part.reads for part in parts)
    assert total_limit(parts[:1]) == parts[0]


def test_the_slowest_resource_is_named():
    assert Limit(compute=1, reads=2, writes=3, ramp=4).bound == "writes"
    assert Limit(compute=1, reads=2, writes=3, ramp=4).cycles == 7


@pytest.mark.parametrize("slowest", ["compute", "reads", "writes"])
def test_a_sum_is_as_long_as_its_parts_whatever_is_slowest(slowest):
    """90 and 5 more, and 50 that reads take and 7 more; resources alone take 90 + 10 at most."""
    first = Limit(**{"compute": 10, "reads": 10, "writes": 10, slowest: 90}, ramp=5)
    second = Limit(compute=10, reads=50, writes=10, ramp=7)
    total = total_limit([first, second])
    assert total.cycles == 95 + 57
    most = 140 if slowest == "reads" else 100
    assert total.ramp == 152 - most
    assert getattr(total, slowest) == most
