"""Predictions of graphs, against cycles that the RTL takes on Verilator."""

from dataclasses import replace

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.compiler.passes import planned
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph import Mask
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models import cases
from celosia.sw.planning.choices import DEFAULT
from celosia.sw.planning.decisions.decide import decide
from celosia.sw.planning.problems import graph_of
from celosia.sw.reference.encoder import EncoderShape
from celosia.sw.timeline.graphs import GraphCycles
from tests.sw.scheduling.products import product_graph

BASE, TINY = PRESETS["base"], PRESETS["tiny"]
WIDE = BASE.with_values({"vector_lanes": 0, "transform_queue": 8})
"""A lane for each column."""


def predict(case, config=BASE, **timing):
    return compile_graph(case.graph, config).expected(MemoryTiming(**timing))


@pytest.mark.parametrize(
    ("case", "cycles"),
    # Measured on the RTL in Verilator: latency 40, 16 bytes per cycle.
    [
        (cases.softmax_case(128, 512, 0), 19_213),
        (cases.layernorm_case(128, 512, 0), 32_347),
        (cases.activation_case("gelu", 128, 512, 0), 17_573),
        (cases.residual_case(128, 512, 0), 26_798),
        (cases.attention_case(4, 128, 64, 0), None),
    ],
    ids=["softmax", "layernorm", "gelu", "residual", "attention"],
)
def test_predictions_are_near_the_rtl(case, cycles):
    found = predict(case, WIDE).cycles
    if cycles is None:  # Bound by its products, which is known without the RTL.
        cycles = case.graph.macs // BASE.macs_per_cycle
        assert cycles < found < 1.1 * cycles
    else:
        assert found == pytest.approx(cycles, rel=0.03)


@pytest.mark.parametrize(
    ("preset", "shape", "b_transposed", "cycles"),
    # Measured on the RTL in Verilator: latency 40, 16 bytes per cycle, default choices.
    [
        ("base", (16, 16, 16), False, 287),
        ("base", (32, 64, 16), False, 808),
        ("base", (25, 75, 50), False, 1_422),
        ("base", (96, 16, 96), False, 1_186),
        ("base", (24, 40, 64), True, 894),
        ("base", (64, 16, 64), True, 858),
        ("tiny", (30, 17, 40), True, 1_954),
        ("tiny", (60, 20, 100), False, 7_963),
        ("small", (20, 33, 17), False, 676),
    ],
)
def test_products_take_what_is_predicted_to_the_cycle(preset, shape, b_transposed, cycles):
    """Narrow stores, rows that begin anywhere, weights through the transposer, banks that meet."""
    m, n, k = shape
    problem = MatMul(m=m, n=n, k=k, scale=0.01, bias=True, b_transposed=b_transposed)
    graph = graph_of("matmul", problem)
    compiled = compile_graph(graph, PRESETS[preset], Decide(DEFAULT))
    assert compiled.expected(MemoryTiming()).cycles == pytest.approx(cycles, abs=1)


@pytest.mark.parametrize(
    ("case", "ring", "cycles"),
    # Measured as above; the results of the second half come to the bank of what is read.
    [
        (cases.residual_case(16, 128, 0), "", 1_696),
        (cases.multiply_case(16, 128, 0), "", 1_113),
        (cases.rotate_case(16, 128, 0), "", 1_827),
        (cases.layernorm_case(16, 128, 0), "", 1_865),
        (cases.residual_case(16, 128, 0), "wide", 1_920),
        (cases.residual_case(4, 64, 0), "wide", 364),
        (cases.layernorm_case(16, 64, 0), "narrow, normalized", 1_521),
    ],
)
def test_operands_and_results_meet_at_banks(case, ring, cycles):
    """In bank 3, which operands are read from."""
    plan, bank = planned(case.graph, BASE, DEFAULT), 3 * BASE.scratchpad_bank_rows
    moved = {name: ((bank + 1024 * n, 1024),) for n, name in enumerate(ring.split(", ")) if name}
    rings = {name: replace(plan.rings[name], spans=spans) for name, spans in moved.items()}
    how = Decide(replace(plan, rings={**plan.rings, **rings}))
    found = compile_graph(case.graph, BASE, how).expected(MemoryTiming())
    assert found.cycles == pytest.approx(cycles, rel=0.012)


@pytest.mark.parametrize(
    ("preset", "shape", "cycles"),
    # Measured on the RTL in Verilator: latency 40, as many bytes per cycle as the bus has.
    [
        ("base", (64, 64, 64), 1_971),
        ("base", (128, 128, 64), 6_749),
        ("base", (256, 256, 32), 21_048),
        ("base", (33, 100, 70), 2_141),
        ("tiny", (33, 100, 70), 15_689),
    ],
)
def test_products_that_transforms_finish_closely_meet_at_banks(preset, shape, cycles):
    """Results, stores of them and weights are at one bank, which then has no access to spare."""
    (m, n, k), config = shape, PRESETS[preset]
    graph, _ = product_graph(MatMul(m=m, n=n, k=k, bias=True, scale=0.01))
    out = replace(graph.tensors["c"], type="int16")
    graph = replace(graph, tensors={**graph.tensors, "c": out})
    found = compile_graph(graph, config, Decide(decide(graph, config))).expected(MemoryTiming())
    assert found.cycles == pytest.approx(cycles, rel=0.012)


def test_one_lane_waits_for_the_banks_of_products_that_come_later():
    """Measured as above, on `tiny`: 72,739 cycles.

    Products read the bank with sums of a context that a single lane has not yet taken out.
    """
    found = predict(cases.attention_case(2, 128, 16, 0), replace(TINY, vector_lanes=1)).cycles
    assert found == pytest.approx(72_739, rel=0.02)
    assert found > 1.05 * predict(cases.attention_case(2, 128, 16, 0), TINY).cycles


def test_shares_of_operators_add_up():
    shape = EncoderShape(layers=2, width=16, heads=2, hidden=32)
    case = cases.encoder_layer_case(cases.random_quantized_encoder(shape, 0), [9, 5], 0)
    found = predict(case, TINY)
    shares = list(found.shares())
    assert sum(cycles for _, cycles in shares) == found.cycles
    assert {"0.query", "0.scores.text0.head0", "0.up"} <= {name for name, _ in shares}
    assert all(cycles > 0 for _, cycles in shares)


def test_a_program_without_products_has_no_shares():
    assert list(GraphCycles(10, ()).shares()) == []
    assert predict(cases.activation_case("gelu", 4, 8, 0), TINY).starts == ()


def test_slow_memories_and_long_latencies_cost():
    case = cases.residual_case(16, 32, 0)
    usual = predict(case).cycles
    assert predict(case, latency=400).cycles > usual + 2 * 300
    assert predict(case, bytes_per_cycle=2).cycles > 3 * usual
    assert predict(case, stall_percent=50).cycles > 1.2 * usual


@pytest.mark.parametrize(
    ("block_tiles", "overlap", "cycles"),
    # Measured as above, but for 8 bytes per cycle.
    [(3, True, 4_542), (2, False, 4_328)],
)
def test_results_wait_for_rows_that_stream_from_their_bank(block_tiles, overlap, cycles):
    """Numerators come to the bank that products of context read those before them from."""
    case = cases.attention_case(1, 80, 64, 0, mask=Mask(None, causal=True))
    how = Decide(replace(DEFAULT, block_tiles=block_tiles, overlap=overlap))
    found = compile_graph(case.graph, BASE, how).expected(MemoryTiming(bytes_per_cycle=8))
    assert found.cycles == pytest.approx(cycles, rel=0.02)
