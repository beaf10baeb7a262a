"""A pipeline compares what its levels mean, and says where one means something else."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from celosia.lab.substitute.lowering import run_pipeline
from celosia.lab.substitute.lowering.execute import drawn_inputs, execute
from celosia.lab.substitute.lowering.passes import Setting, State
from celosia.lab.substitute.lowering.pipeline import parse_pipeline
from celosia.sim.support.progress import silent
from celosia.sw.quantize.graphs.quantized import run_model
from tests.sw.models.lowering.levels_of import CONFIG, model, model_levels, product_levels

SETTING = Setting(path=Path("x"), sizes={}, config=CONFIG, tell=silent)


def steps(text, value, **more):
    state, passes = State(value=value), parse_pipeline(text)
    return list(run_pipeline.run_pipeline(passes, state, SETTING, interpret=True, **more))


def test_all_levels_of_a_model_leave_the_same_bits():
    quantized, samples = model()
    expected = run_model(quantized, samples[0]).outputs
    for value in model_levels():
        left = execute(value, samples[0])
        np.testing.assert_array_equal(left.outputs["y"], expected["y"])
        assert len(left.tensors) >= 2
    found = steps("decide,expand,lower", quantized, inputs=samples[0])
    assert not any(step.wrong for step in found)
    assert {step.found[1] for step in found} == {"executed: the same bits in 3 tensors"}
    last: Any = found[-1].value
    assert [step.summary for step in found] == [
        "cel.plan, 2 stages",
        f"cel.program, {sum(len(g.ops) for g in model_levels()[2].graphs)} operations",
        f"commands, {sum(len(g.program) for g in last.graphs)} commands",
    ]


def test_a_level_that_means_something_else_is_told(monkeypatch):
    graph, plans, programs, _, _ = product_levels()
    (compiled,) = programs.graphs
    products = next(i for i, each in enumerate(compiled.ops) if hasattr(each.op, "accumulate"))

    def other(operation, arrays):
        ops = list(compiled.ops)
        op: Any = ops[products].op
        op = replace(op, w_transposed=not op.w_transposed)
        ops[products] = replace(ops[products], op=op)
        return replace(programs, graphs=(replace(compiled, ops=tuple(ops)),))

    monkeypatch.setattr(run_pipeline, "level_of_operation", other)
    (step,) = steps("expand", plans)
    assert step.wrong
    read, executed = step.found
    assert read.startswith("its text reads back as another value: .graphs[0].ops[")
    assert executed.endswith(f"elements of 0/{graph.outputs[0]} differ")


@pytest.mark.parametrize("change", [1e-3, np.nan])
def test_a_recognized_graph_that_is_another_one_is_told(change, monkeypatch):
    left = run_pipeline.Left({"y": np.ones((2, 2))}, {})
    other = run_pipeline.Left({"y": np.ones((2, 2)) + change}, {})
    same = run_pipeline._same(left, other, floats=True, floats_before=True)
    assert same.wrong
    assert same.text.startswith("output y is another one than before")
    close = run_pipeline.Left({"y": np.ones((2, 2)) + 1e-8}, {})
    assert not run_pipeline._same(left, close, floats=True, floats_before=True).wrong


def test_inputs_that_hide_keys_of_a_plan_are_refused():
    quantized, samples = model()
    plans = model_levels()[1]
    (first, *rest) = plans.graphs
    other = replace(first, graph=replace(first.graph, ops=first.graph.ops[:-1]))
    with pytest.raises(ValueError, match=r"^segment 0: these inputs hide keys"):
        execute(replace(plans, graphs=(other, *rest)), samples[0])
    assert quantized.masks == ()


def test_random_inputs_fit_every_level():
    for value in (*product_levels(), *model_levels()):
        inputs = drawn_inputs(value, 0)
        assert execute(value, inputs).tensors
