"""How files of other tools become ONNX files."""

import pytest

from celosia.sw.frontend.importer.source.conversion import conversion
from celosia.sw.frontend.importer.source.model_file import read_model
from celosia.sw.frontend.importer.source.problems import ImportProblem

WAYS = {
    "m.pt": "torch.onnx.export",
    "m.pth": "torch.onnx.export",
    "m.pt2": "torch.onnx.export",
    "m.ckpt": "torch.onnx.export",
    "pytorch_model.BIN": "optimum-cli export onnx",
    "m.safetensors": "optimum-cli export onnx",
    "m.tflite": "tf2onnx.convert --tflite MODEL.tflite",
    "m.pb": "tf2onnx.convert --saved-model FOLDER",
    "m.h5": "tf2onnx.convert --keras MODEL.h5",
    "m.keras": "tf2onnx.convert --keras MODEL.keras",
}


@pytest.mark.parametrize("name", WAYS)
def test_a_file_of_another_tool_says_how_it_becomes_one(name, tmp_path):
    assert WAYS[name] in conversion(name)
    path = tmp_path / name
    path.write_bytes(b"\xff" * 20)
    with pytest.raises(ImportProblem, match="not an ONNX file: ") as told:
        read_model(path)
    assert conversion(name) in str(told.value)


def test_an_unknown_file_may_be_cut_short(tmp_path):
    assert conversion("m.onnx") == conversion("model") == ""
    path = tmp_path / "m.onnx"
    path.write_bytes(b"\xff" * 20)
    with pytest.raises(ImportProblem, match="not an ONNX file, or one that is cut short"):
        read_model(path)
