"""Programs of small workloads are, word by word, those that were measured.

A digest says that something changed, not what is right: the other tests of this folder do.  Where
a change of the compiler means to change programs, its commit says so, and takes the new digests,
which the failing test prints.
"""

import hashlib
from functools import partial

import numpy as np
import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.graphs.branches import branches_case
from celosia.lab.tune.branches.plans import staged_plan
from celosia.sw.compiler.choose import choose
from celosia.sw.compiler.passes import Compress, Encode
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.reuse import Reuse
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.decoding.texts import Text
from celosia.sw.ir.graph import Mask
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models import cases
from celosia.sw.models.encoder import encoder_layer_graph
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.problems import graph_of
from celosia.sw.quantize.encoders.float_graph import encoder_float_graph, encoder_outline
from celosia.sw.quantize.graphs.sketch import sketch
from celosia.sw.reference.encoder import EncoderShape, Norm
from tests.support.quantized_exports import quantized
from tests.sw.models.decoder_runs import model

TINY, MEMORY = PRESETS["tiny"], MemoryTiming(latency=60, bytes_per_cycle=8)


def product(m, n, k, **form):
    return graph_of("product", MatMul(m=m, n=n, k=k, **{"scale": 0.01, "bias": True, **form}))


def layer():
    """Without calibration, whose floats have other last bits on another processor."""
    shape = EncoderShape(layers=2, width=16, heads=4, hidden=32)
    norm = Norm(np.ones(shape.width, np.float32), np.ones(shape.width, np.float32))
    weights = encoder_outline(shape, norm, ((norm, norm),) * shape.layers)
    (graph,), _ = sketch(encoder_float_graph(weights, [9, 6]), named=True)
    return encoder_layer_graph(graph)


def branches():
    return branches_case("parallel-block", 1, width=16, heads=2).graph


def staged(graph):
    return [Decide(staged_plan(graph, TINY, MEMORY, "greedy"))]


def by_choices(graph):
    return [Decide(choose(graph, TINY, MEMORY))]


def always(*how):
    return lambda _: how


PROGRAMS = {
    "product": (partial(product, 20, 24, 40), always()),
    "short product": (partial(product, 3, 5, 7, bias=False, a_unsigned=True, relu=True), always()),
    "transposed": (partial(product, 13, 33, 10, b_transposed=True), always()),
    "sums": (partial(product, 16, 12, 50, scale=None), always()),
    "linear": (partial(product, 9, 17, 12), by_choices),
    "attention": (lambda: cases.attention_case(2, 12, 8, 1, mask=Mask(9)).graph, always()),
    "softmax": (lambda: cases.softmax_case(5, 30, 1).graph, always(Encode(base=1 << 32))),
    "layer": (layer, always()),
    "layer, bytes again": (layer, always(Decide(Choices()), Reuse())),
    "layer, no loops": (
        layer,
        always(Decide(Choices(block_tiles=2)), Encode(nests=False), Compress(loops=False)),
    ),
    "decoder": (lambda: model("llama", width=64).graph([Text(5, 3)], 12, 9), always()),
    "branches": (branches, staged),
    "onnx": (lambda: quantized("vit").segments[0].graph, always(Decide(Choices()))),
}
EXPECTED = {
    "product": (143, "f34a97b8a621"),
    "short product": (21, "76ef836a8f31"),
    "transposed": (111, "9e327e152155"),
    "sums": (77, "3d33f39604b5"),
    "linear": (56, "eb70ddaa59eb"),
    "attention": (168, "a8c6d9096aab"),
    "softmax": (31, "565ba02d1e62"),
    "layer": (320, "2d8d2f675245"),
    "layer, bytes again": (376, "e594763f5bc7"),
    "layer, no loops": (1075, "2194a445b588"),
    "decoder": (1419, "7ea664d69b84"),
    "branches": (1308, "a4ab15d67789"),
    "onnx": (117, "d1bd7383b6fc"),
}
"""Commands of each program, and its digest."""


def digest(compiled):
    """The words of a program, and the addresses of its tensors."""
    words = [word for each in compiled.program for word in (each.funct, each.rs1, each.rs2)]
    places = sorted(compiled.addresses.items())
    text = np.array(words, np.uint64).tobytes() + repr(places).encode()
    return len(compiled.program), hashlib.sha256(text).hexdigest()[:12]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_those_that_were_measured(name):
    make, how = PROGRAMS[name]
    graph = make()
    assert digest(compile_graph(graph, TINY, *how(graph), timing=MEMORY)) == EXPECTED[name]
