"""Attention whose scores wait in memory equals attention that computes them twice, bit for bit."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.lab.fuzz.graphs.levels import program_values
from celosia.sim.devices.devices import open_device
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph import DeferredSoftmax, Mask, MatMul, Op, Tensor
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import Case, attention_case
from celosia.sw.passes.short_scales import short_scales
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.forms.stages import AttentionStage
from tests.support.cramped import CRAMPED
from tests.support.levels import configured

SHORT = CRAMPED
"""Rows of more than 32 keys are long, and scales have eight bits."""
PARTS = Choices(whole_scores=False)
"""Keys are taken part by part, however few they are."""
MASKS = st.one_of(
    st.just(Mask()),
    st.builds(Mask, keys=st.integers(0, 90)),
    st.builds(Mask, causal=st.just(True)),
    st.builds(Mask, keys=st.integers(0, 90), causal=st.just(True)),
)


def with_bias(case: Case, seed: int) -> Case:
    """The same with something added to each key's scores."""
    graph, values = case.graph, dict(case.inputs)
    (scores, context) = graph.ops
    assert isinstance(scores, MatMul)
    keys = scores.out.cols
    bias = Tensor("bias", "int32", 1, keys)
    values["bias"] = np.random.default_rng(seed).integers(-4000, 4000, (1, keys)).astype(np.int32)
    graph = replace(
        graph,
        tensors={**graph.tensors, "bias": bias},
        inputs=(*graph.inputs, "bias"),
        ops=(replace(scores, bias=bias.view()), context),
    )
    return Case(graph, values)


def scored(case: Case, *, by: float = 1.0, stored: bool = True) -> Case:
    """The same with scores that are `by` times as large, stored or not."""

    def changed(op: Op) -> Op:
        if not (isinstance(op, MatMul) and isinstance(op.finish, DeferredSoftmax)):
            return op
        scale = float(np.float32(op.finish.scale * by))
        return replace(op, finish=replace(op.finish, scale=scale, stored=stored))

    return Case(replace(case.graph, ops=tuple(map(changed, case.graph.ops))), case.inputs)


def rounded(case: Case, config: AcceleratorConfig = SHORT) -> Case:
    """The same with scales that `config` takes."""
    return Case(short_scales(case.graph, config), case.inputs)


def both_ways(case: Case, config: AcceleratorConfig, **choices) -> list[CompiledGraph]:
    """The program whose scores wait, and the one that computes them twice."""
    compiled = [
        compile_graph(case.graph, config, Decide(replace(PARTS, scores_in_memory=way, **choices)))
        for way in (True, False)
    ]
    for way, each in zip((True, False), compiled, strict=True):
        (stage,) = each.plan.stages
        assert isinstance(stage, AttentionStage)
        assert all((group.spill is not None) == way for group in stage.groups)
    return compiled


@settings(max_examples=12, deadline=None)
@given(
    rows=st.integers(40, 60),  # Blocks of every size, and not many of them.
    width=st.integers(1, 9),
    heads=st.integers(1, 2),
    mask=MASKS,
    block_tiles=st.sampled_from([1, 2, 4]),
    piece_tiles=st.sampled_from([1, 4]),
    overlap=st.booleans(),
    by=st.sampled_from([1, 40]),
)
def test_programs_mean_the_same_whatever_the_size_of_blocks(
    rows, width, heads, mask, block_tiles, piece_tiles, overlap, by
):
    keys = None if mask.keys is None else min(mask.keys, rows)
    case = attention_case(heads, rows, width, seed=rows, mask=replace(mask, keys=keys))
    case = rounded(scored(case, by=by))
    want = interpret(case.graph, case.inputs)["context"]
    choices = {"block_tiles": block_tiles, "piece_tiles": piece_tiles, "overlap": overlap}
    for compiled in both_ways(case, SHORT, **choices):
        found = program_values(compiled, SHORT, case.inputs)["context"]
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize(
    "config",
    [SHORT, configured("small", accumulator_kib=4), replace(SHORT, vector_lanes=4)],
    ids=["tiny", "small", "four lanes"],
)
@pytest.mark.parametrize("mask", [Mask(), Mask(causal=True), Mask(keys=50)], ids=str)
@pytest.mark.parametrize("rows", [100, pytest.param(160, marks=pytest.mark.nightly)])
def test_commands_on_the_functional_model(config, mask, rows):
    run_both(with_bias(attention_case(1, rows, 6, 3, mask=mask), 3), config, "functional")


@pytest.mark.parametrize(
    "timing",
    [MemoryTiming(latency=20), MemoryTiming(latency=60, stall_percent=40, reorder=True, seed=1)],
    ids=["steady", "stalls"],
)
def test_on_the_rtl(timing):
    """Stores that leave late: loads wait for them, and stores for loads of what was there."""
    case = with_bias(attention_case(1, 75, 9, 4, mask=Mask(causal=True)), 4)
    run_both(case, SHORT, "verilator", timing)
    run_both(scored(case, by=40), SHORT, "verilator", timing)


@pytest.mark.parametrize("rows", [12, 75])
def test_scores_that_are_not_stored_do_not_wait_and_do_not_end_at_int16(rows):
    """Short rows and long ones, whose scores are all moved beyond int16, or reach far beyond it."""
    case = rounded(with_bias(attention_case(1, rows, 9, 4, mask=Mask(causal=True)), 4))
    plain = interpret(case.graph, case.inputs)["context"]
    bias = case.inputs["bias"]
    for by, moved in ((1.0, 1 << 20), (1.0, -(1 << 20)), (40.0, 0)):
        moves = Case(case.graph, {**case.inputs, "bias": bias + moved})
        each = rounded(scored(moves, by=by, stored=False))
        compiled = compile_graph(each.graph, SHORT, Decide(PARTS))
        (stage,) = compiled.plan.stages
        assert isinstance(stage, AttentionStage)
        assert all(group.spill is None for group in stage.groups)
        want = interpret(each.graph, each.inputs)["context"]
        close = np.abs(want.astype(int) - plain).max() <= 1
        assert close == (moved != 0)  # A score may be rounded another way.
        size = compiled.end - MEMORY_BASE
        with closing(open_device("verilator", SHORT, MemoryTiming(), size)) as device:
            run = GraphRun(device, compiled)
            run.load(each.inputs)
            run.run()
            np.testing.assert_array_equal(run.read("context"), want)


@pytest.mark.slow
@pytest.mark.parametrize("mask", [Mask(), Mask(causal=True), Mask(keys=50)], ids=str)
@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_every_number_of_lanes_on_the_rtl(lanes, mask):
    timing = MemoryTiming(latency=90, channel_stalls=(("w", 90), ("b", 90), ("ar", 5)), seed=3)
    config = replace(SHORT, vector_lanes=lanes)
    run_both(attention_case(2, 75, 9, 5, mask=mask), config, "verilator", timing)


@pytest.mark.slow
def test_on_the_other_simulator():
    run_both(attention_case(1, 45, 4, 5, mask=Mask(causal=True)), SHORT, "amaranth")


def run_both(
    case: Case, config: AcceleratorConfig, simulator: str, timing: MemoryTiming | None = None
) -> None:
    case = rounded(case, config)
    want = interpret(case.graph, case.inputs)["context"]
    programs = both_ways(case, config)
    size = max(compiled.end for compiled in programs) - MEMORY_BASE
    with closing(open_device(simulator, config, timing or MemoryTiming(), size)) as device:
        for compiled in programs:
            run = GraphRun(device, compiled)
            run.load(case.inputs)
            run.run()
            np.testing.assert_array_equal(run.read("context"), want)
