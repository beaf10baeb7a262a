"""ONNX Runtime as an oracle of models."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

__all__ = ["run_session", "runtime_session"]

Array = np.ndarray[Any, np.dtype[Any]]


def runtime_session(model: Any) -> onnxruntime.InferenceSession:
    """A model, or a file, on one thread, without warnings of initializers that nothing reads.

    Products of uint8 with int8 are exact, also where a processor without VNNI would saturate sums
    of two of them to 16 bits.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.x64quantprecision", "1")
    source = model if isinstance(model, Path) else model.SerializeToString()
    return onnxruntime.InferenceSession(source, options)


def run_session(
    session: onnxruntime.InferenceSession,
    inputs: dict[str, Array],
    outputs: Sequence[str] | None = None,
) -> list[Array]:
    """The outputs by name, or all of them."""
    return [np.asarray(value) for value in session.run(outputs, inputs)]
