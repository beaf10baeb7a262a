"""ONNX Runtime as an oracle of models."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime

__all__ = ["run_session", "runtime_session"]

Array = np.ndarray[Any, np.dtype[Any]]


def runtime_session(model: Any) -> onnxruntime.InferenceSession:
    """A model on one thread, without warnings of initializers that nothing reads."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def run_session(
    session: onnxruntime.InferenceSession,
    inputs: dict[str, Array],
    outputs: Sequence[str] | None = None,
) -> list[Array]:
    """The outputs by name, or all of them."""
    return [np.asarray(value) for value in session.run(outputs, inputs)]
