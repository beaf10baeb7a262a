"""Predicted shares of the time of a model."""

import numpy as np
import pytest

from celosia.isa.presets import PRESETS
from celosia.sim.run.models.time_share import TimeShare, host_times, predict_shares
from celosia.sw.compiler import costs
from celosia.sw.compiler.costs import Costs
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType


def graph():
    """A product of 64 rows for the accelerator, and two operators of the host behind it."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (64, 32)))
    with builder.origin("fc (MatMul)"):
        y = builder.op("matmul", x, builder.constant(np.ones((32, 16), np.float32)))
    with builder.origin("small (Tanh)"):
        part = builder.op(
            "tanh", builder.op("slice", y, starts=(0, 0), sizes=(2, 16), steps=(1, 1))
        )
    with builder.origin("large (Tanh)"):
        whole = builder.op("tanh", y)
    return builder.finish({"part": part, "whole": whole})


def test_shares_add_up_and_the_largest_of_the_host_comes_first(monkeypatch):
    found = predict_shares(graph(), Costs(PRESETS["tiny"]))
    assert list(found.host) == ["large (Tanh)", "small (Tanh)"]
    assert found.host["large (Tanh)"] == 32 * found.host["small (Tanh)"]
    # 64 x 32 x 16 products of an array of 4 x 4, which cannot take less.
    assert 64 * 32 * 16 / 16 < found.accelerator < 3 * 64 * 32 * 16 / 16
    assert found.total == found.accelerator + sum(found.host.values())
    assert found.accelerator_time_share == pytest.approx(found.accelerator / found.total)
    assert "fc (MatMul)" not in found.host
    monkeypatch.setattr(costs, "_FOLLOWED", 0)
    apart = predict_shares(graph(), Costs(PRESETS["tiny"]))
    assert apart.accelerator == pytest.approx(found.accelerator, rel=0.1)


def test_a_node_that_became_several_takes_the_time_of_all():
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (8, 16)))
    with builder.origin("both (Softplus)"):
        first = builder.op("exp", x)
        second = builder.op("log", builder.op("add", first, builder.like(1, first)))
    with builder.origin("one (Exp)"):
        alone = builder.op("exp", x)
    graph = builder.finish({"second": second, "alone": alone})
    found = host_times(graph.nodes)
    assert list(found) == ["both (Softplus)", "one (Exp)"]
    apart = [host_times([node]) for node in graph.nodes]
    assert sum(sum(each.values()) for each in apart[:3]) == found["both (Softplus)"]
    assert len([each for each in apart[:3] if each]) > 1
    assert apart[3]["one (Exp)"] == found["one (Exp)"]


def test_of_nothing_all_is_the_accelerators():
    assert TimeShare(0, {}).accelerator_time_share == 1
