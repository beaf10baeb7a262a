"""A file that goes through all steps in documents: y = gelu(x * w + b), with an Erf chain."""

import numpy as np
from onnx import helper

from tests.sw.frontend.importer.models import floats, model

__all__ = ["gelu_file"]

CONSTANTS = {"root": 2**0.5, "one": 1, "half": 0.5}
NODES = (
    ("MatMul", "x", "w", "p"),
    ("Add", "p", "b", "s"),
    ("Div", "s", "root", "d"),
    ("Erf", "d", "e"),
    ("Add", "e", "one", "f"),
    ("Mul", "s", "f", "g"),
    ("Mul", "g", "half", "y"),
)


def gelu_file():
    """The model, whose x has 8 columns and n rows."""
    nodes = [helper.make_node(op, list(given), [made]) for op, *given, made in NODES]
    numbers = {name: np.array(value, np.float32) for name, value in CONSTANTS.items()}
    known = {"w": floats(8, 8), "b": floats(8), **numbers}
    return model(nodes, {"x": ["n", 8]}, ["y"], known)
