"""How models in other forms become ONNX files."""

from pathlib import PurePath
from typing import Final

__all__ = ["conversion"]

_TORCH: Final = (
    "weights of torch become an ONNX file where their module is: "
    'torch.onnx.export(module, inputs, "model.onnx", dynamo=True)'
)
_HUB: Final = (
    "a folder of Hugging Face's becomes ONNX files by: optimum-cli export onnx --model FOLDER OUT"
)
_TENSORFLOW: Final = "it becomes an ONNX file by the package tf2onnx: python -m tf2onnx.convert"
_WAYS: Final = {
    ".pt": _TORCH,
    ".pth": _TORCH,
    ".pt2": _TORCH,
    ".ckpt": _TORCH,
    ".bin": _HUB,
    ".safetensors": _HUB,
    ".tflite": f"{_TENSORFLOW} --tflite MODEL.tflite --output model.onnx",
    ".pb": f"{_TENSORFLOW} --saved-model FOLDER --output model.onnx",
    ".h5": f"{_TENSORFLOW} --keras MODEL.h5 --output model.onnx",
    ".keras": f"{_TENSORFLOW} --keras MODEL.keras --output model.onnx",
}


def conversion(name: str) -> str:
    """How a file of this name becomes an ONNX file; nothing if it is not known as a model's."""
    return _WAYS.get(PurePath(name).suffix.lower(), "")
