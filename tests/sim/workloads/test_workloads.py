"""What is said of names that are none of a workload."""

import pytest

from celosia.sim.support.problems import InputError
from celosia.sim.workloads.workloads import check_name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("model.pt", r"model\.pt is no ONNX file: .*torch\.onnx\.export\(module, inputs,"),
        ("a/model.PTH", r"torch\.onnx\.export"),
        ("pytorch_model.bin", "optimum-cli export onnx --model FOLDER OUT"),
        ("m.safetensors", "optimum-cli .*--model FILE.plan of the workload encoder"),
        ("m.tflite", "tf2onnx.convert --tflite MODEL.tflite"),
        ("m.keras", "tf2onnx.convert --keras MODEL.keras"),
        ("matmull", "did you mean matmul?"),
        ("conv2d", "im2col"),
    ],
)
def test_what_is_no_workload_is_told_what_to_do(name, said):
    with pytest.raises(InputError, match=said):
        check_name(name)
