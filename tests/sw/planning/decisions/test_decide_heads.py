"""Heads of texts of several lengths in one stage have legal plans, and right results."""

from functools import cache

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import (
    attention_case,
    encoder_layer_case,
    random_quantized_encoder,
)
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.stages import AttentionStage
from celosia.sw.reference.encoder import EncoderShape

BASE = resolve_config("base")
HALF = BASE.accumulator_rows // 2


@cache
def model():
    return random_quantized_encoder(EncoderShape(layers=2, width=32, heads=1, hidden=32), 0)


@pytest.mark.parametrize(
    ("lengths", "by_turns"),
    [((66, 196, 97), True), ((94, 17, 109), True), ((320, 94), False)],
    ids=str,
)
def test_texts_of_several_lengths_share_the_halves_of_the_accumulator(lengths, by_turns):
    """The most rows that scores of a text need, in each half; else all are in one half."""
    case = encoder_layer_case(model(), list(lengths), 0)
    compiled = compile_graph(case.graph, BASE)
    (stage,) = (each for each in compiled.plan.stages if isinstance(each, AttentionStage))
    scores = {compiled.plan.rings[group.scores].spans for group in stage.groups}
    halves = {len({first // HALF for first, _ in spans}) for spans in scores}
    assert halves == ({2} if by_turns else {1})
    assert len(scores) == 1
    run = GraphRun(FunctionalDevice(BASE, memory_bytes=1 << 22, seed=1), compiled)
    run.load(case.inputs)
    run.run()
    expected = interpret(case.graph, case.inputs)
    for tensor in run.written:
        assert np.array_equal(run.read(tensor), expected[tensor]), tensor


def test_where_scores_wait_in_memory_each_half_has_a_place_for_scores_and_one_for_contexts():
    """64 rows of the accumulator are two halves of 32, and these are two places of 16 each."""
    config = resolve_config("tiny").with_values({"accumulator_kib": 1})
    graph = attention_case(2, 60, 8, seed=1).graph
    plan = decide_graph(graph, config, Choices(whole_scores=False))
    (stage,) = plan.stages
    assert isinstance(stage, AttentionStage)
    (group,) = stage.groups
    assert group.spill is not None
    assert config.accumulator_rows == 64
    assert plan.rings[group.scores].spans == ((0, 16), (32, 16))
    assert plan.rings[group.contexts].spans == ((16, 16), (48, 16))
    assert max(group.rows) * -(-8 // config.dim) <= 16
