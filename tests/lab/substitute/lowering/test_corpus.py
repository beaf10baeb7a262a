"""The models that exporters write, small: all levels read back, and mean the same."""

from typing import Any

import numpy as np
import onnx
import pytest

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import Size
from tests.support.command_line import right

SMALL = Size(
    layers=1, vocabulary=64, positions=32, image=16, width=32, heads=2, key_heads=1, hidden=64,
    mels=8,
)  # fmt: skip
TOKENS = 8


@pytest.mark.nightly
@pytest.mark.parametrize("name", EXPORTS)
def test_a_model_goes_through_all_levels(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = EXPORTS[name].build(SMALL)
    onnx.save(model, "m.onnx")
    samples: list[Any] = [EXPORTS[name].inputs(SMALL, seed, tokens=TOKENS) for seed in range(4)]
    stacked: Any = {key: np.stack([each[key] for each in samples]) for key in samples[0]}
    np.savez("c.npz", **stacked)
    sizes = {}
    for each in model.graph.input:
        axes = each.type.tensor_type.shape.dim
        pairs = zip(axes, samples[0][each.name].shape, strict=True)
        sizes |= {axis.dim_param: size for axis, size in pairs if axis.dim_param}
    words = [word for axis, size in sizes.items() for word in ("--dim", f"{axis}={size}")]
    pipeline = "import,recognize,quantize{calibrate=c.npz},decide,expand,lower"
    shown = right("opt", "m.onnx", *words, "--pipeline", pipeline, "--interpret", "-o", "o.mlir")
    assert shown.stdout.count("its text reads back as it was") == 6
    assert shown.stdout.count("executed: the same bits") == 3
    assert "within the tolerance of proofs" in shown.stdout
