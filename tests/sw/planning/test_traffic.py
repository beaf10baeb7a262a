"""Bytes and bus cycles."""

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.decisions.decide import decide, only_product
from celosia.sw.planning.forms.plan import only_stage
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.traffic import Move, Traffic

BASE = PRESETS["base"]


def traffic(problem, **timing):
    graph = graph_of("product", problem)
    stage = only_stage(decide(graph, BASE))
    return Traffic(only_product(graph), graph, BASE, MemoryTiming(**timing), stage)


def test_moves_add_up():
    assert Move(1, 2.0, 3) + Move(4, 5.5, 6) == Move(5, 7.5, 9)


def test_aligned_rows_move_at_the_rate_of_the_bus():
    found = traffic(MatMul(m=64, n=128, k=256))
    assert found.a(64) == Move(64 * 256, 64 * 256 / 16, 4)
    assert found.b(128) == Move(256 * 128, 256 * 128 / 16, 16 * 2)
    assert found.bias(128) == Move(512, 32.0, 1)


def test_a_slow_memory_takes_longer():
    found = traffic(MatMul(m=64, n=128, k=256), bytes_per_cycle=4)
    assert found.a(64).cycles == 64 * 256 / 4


def test_rows_that_begin_inside_a_beat_cost_a_part_of_one_more():
    # 64 of 66 bytes: the start is any even byte of 16, 5 beats but for one in 8.
    found = traffic(MatMul(m=8, n=16, k=66))
    assert found.first_a_cycles(4) == pytest.approx(8 * (64 + 14) / 16)


def test_short_bursts_are_bound_by_their_number_in_flight():
    found = traffic(MatMul(m=64, n=128, k=16), latency=94)
    assert found.a(64).cycles == 64 * 96 / 32


def test_transposed_weights_move_in_rows_of_memory():
    found = traffic(MatMul(m=64, n=128, k=256, b_transposed=True))
    assert found.b(128) == Move(256 * 128, 256 * 128 / 16, 8 * 4)
    assert found.first_b_cycles() == 16 * 4


@pytest.mark.parametrize(("scale", "cycles"), [(1.0, 32 * 8), (None, 32 * 8 * 4)])
def test_results_leave_a_row_per_cycle_if_the_bus_can_follow(scale, cycles):
    assert traffic(MatMul(m=64, n=128, k=64, scale=scale)).store_cycles(32, 128, 8) == cycles


def test_a_bus_that_is_wider_than_rows_waits_for_the_accumulator():
    """64 bytes in a cycle, of rows of 16: each takes a cycle of its own."""
    graph = graph_of("product", MatMul(m=64, n=128, k=64, scale=1.0))
    config, timing = BASE.with_values({"bus_bits": 512}), MemoryTiming(bytes_per_cycle=64)
    stage = only_stage(decide(graph, config))
    found = Traffic(only_product(graph), graph, config, timing, stage)
    assert found.store_cycles(32, 128, 8) == 32 * 8


@pytest.mark.parametrize(("n", "row"), [(16, 16), (20, 20 + 12)])
def test_the_first_piece_of_weights_has_no_more_columns_than_there_are(n, row):
    """Rows of 20 bytes begin at multiples of 4: they touch 12 bytes more of the bus on average."""
    found = traffic(MatMul(m=128, n=n, k=32), bytes_per_cycle=1)
    assert min(found.stage.w.columns, found.stage.tiles[0]) * BASE.dim >= n
    assert found.first_b_cycles() == 32 * row
