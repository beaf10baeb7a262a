"""A model that is one dense layer, ready to run."""

import numpy as np

from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.workloads.models.prepare import Prepared, random_samples
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.placement import place
from tests.support.quantized_graph import quantize_graph

__all__ = ["OPTIONS", "layer", "prepared"]

OPTIONS = RunOptions(workload="layer.onnx", target=Target(simulator="functional", preset="tiny"))


def layer() -> FloatGraph:
    """A dense layer of four rows."""
    random, builder = np.random.default_rng(1), GraphBuilder("layer")
    x = builder.input("x", TensorType("float32", (4, 8)))
    weights = builder.constant(random.standard_normal((8, 8), np.float32))
    return builder.finish({"y": builder.op("matmul", x, weights)})


def prepared() -> Prepared:
    """It, quantized on random samples."""
    recognized = recognize(layer())
    placement = place(layer(), recognized, find_units(recognized.graph))
    model = quantize_graph(recognized.graph, random_samples(recognized.graph, 0))
    return Prepared(model, placement, ("a note",), recognized.graph)
