"""A file through all steps of a model and all passes of a graph: docs/architecture.md has it."""

from dataclasses import fields
from itertools import chain
from math import erf
from pathlib import Path

import numpy as np
import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.compiler.pipeline import passes
from celosia.sw.ir.graph import MatMul
from celosia.sw.ir.graphs.finishes import Activation
from celosia.sw.models.steps import STEPS, Calibrate, Import, Instantiate, Recognize, follow
from celosia.sw.quantize.graphs.quantized import run_model
from tests.sw.models.gelu_model import gelu_file

TEXT = (Path(__file__).parents[3] / "docs" / "architecture.md").read_text(encoding="utf-8")
SAMPLES = [
    {"x": np.random.default_rng(seed).standard_normal((4, 8), np.float32)} for seed in range(4)
]
TIMING = MemoryTiming()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A file behind all steps: gelu(x * w + b), with an Erf chain."""
    path = tmp_path_factory.mktemp("model") / "m.onnx"
    path.write_bytes(gelu_file().SerializeToString())
    return follow(Import(path, {"n": 4}), Recognize(), Calibrate(SAMPLES), Instantiate())


def row(name, text):
    """The row of a step or a pass ends with this text."""
    (found,) = [line for line in TEXT.splitlines() if line.startswith(f"| `{name}` | `")]
    assert found.endswith(f" | {text} |")


def test_the_table_of_steps_is_the_list(whole):
    for each in STEPS:
        arguments = ", ".join(f"`{field.name}`" for field in fields(each))
        assert f"| `{each.name}` | `{each.__name__}` | {arguments}".rstrip() + " | " in TEXT
    assert [*whole.made] == [each.name for each in STEPS]


def test_the_steps_leave_what_the_table_says(whole):
    row("import", ", ".join(node.op for node in whole.imported.graph.nodes))
    row("recognize", ", ".join(node.op for node in whole.recognized.graph.nodes))
    formats = {f"{form.key}/{form.role}": x.type for form, x in whole.formats.forms.items()}
    row("calibrate", ", ".join(f"{name}: {formats[name]}" for name in ("x/small", "gelu/wide")))
    assert len(formats) == 2
    segments, host = len(whole.quantized.segments), whole.quantized.host_operators.total()
    row("instantiate", f"{segments} segment, {host} operators of the host")


def test_the_passes_leave_what_the_table_says(whole):
    (segment,) = whole.quantized.segments
    found = {
        each.name: made for each, made in passes(segment.graph, PRESETS["tiny"], timing=TIMING)
    }
    (op,), (stage,) = found["graph"].graph.ops, found["plan"].plan.stages
    assert isinstance(op, MatMul)
    assert isinstance(op.finish, Activation)
    row("graph", f"MatMul with finish {op.finish.function}")
    row("plan", f"a {stage.kind} stage")
    for name in ("expand", "schedule"):
        row(name, f"{len(found[name].ops)} operations")
    row("encode", f"{len([*chain(*found['encode'].commands)])} commands")
    row("commands", f"{len(found['commands'].program)} entries")


def test_what_comes_out_is_near_the_file(whole):
    x, known = SAMPLES[0]["x"], whole.imported.graph.constants
    (y,) = run_model(whole.quantized, {"x": x}).outputs.values()
    real = x @ known["w"] + known["b"]
    gelu = real * 0.5 * (1 + np.vectorize(erf)(real / 2**0.5))
    assert np.abs(y - gelu).max() < 0.03 * np.abs(gelu).max()
