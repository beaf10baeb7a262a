"""Values of all levels to try texts on: of a small product, of attention, and of a small model."""

from functools import cache

import numpy as np

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.models.cases import matmul_case
from celosia.sw.models.lowering.levels import checked, decided, expanded, lowered, scheduled
from celosia.sw.models.steps import Calibrate, Instantiate, Model, follow

__all__ = ["CONFIG", "TIMING", "below", "model", "model_levels", "product_levels"]

CONFIG = PRESETS["tiny"]
TIMING = MemoryTiming()


def below(source, timing: MemoryTiming | None = TIMING, config=CONFIG):
    """Plan, program in both orders, and commands of a graph or a model."""
    plans = decided(source, config, timing)
    programs = expanded(plans)
    ordered = scheduled(programs)
    return plans, programs, ordered, lowered(ordered)


@cache
def product_levels():
    """A product of 4x8 and 8x8 with a bias, and all that becomes of it."""
    graph = matmul_case(4, 8, 8, 0).graph
    return graph, *below(graph)


@cache
def model():
    """Two products with a sine of the host between them, and samples of its input."""
    random, builder = np.random.default_rng(0), GraphBuilder("two segments")
    x = builder.input("x", TensorType("float32", (4, 8)))
    for _ in range(2):
        weights = random.standard_normal((8, 8)).astype(np.float32)
        x = builder.op("matmul", x, builder.constant(weights))
        x = builder.op("sin", x)
    samples = [{"x": random.standard_normal((4, 8)).astype(np.float32)} for _ in range(3)]
    recognized = recognize(builder.finish({"y": x}))
    done = follow(Calibrate(samples), Instantiate(), model=Model.of(recognized))
    return checked(done.quantized, CONFIG), samples


@cache
def model_levels():
    """The model in integers, and all that becomes of it."""
    return model()[0], *below(model()[0])
