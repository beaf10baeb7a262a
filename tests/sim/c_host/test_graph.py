"""A compiled encoder runs on the C library: every tensor is the one that the graph means."""

import numpy as np
import pytest

from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import resolve_config
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.passes import Compress, Encode
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import encoder_case, random_quantized_encoder
from celosia.sw.reference.encoder import EncoderShape
from tests.support.c_host import c_host

SHAPE = EncoderShape(layers=2, width=32, heads=2, hidden=64)


@pytest.mark.parametrize("loops", [False, True])
def test_an_encoder_of_two_layers(loops):
    """Products, softmax, GELU, residual additions and layer normalization, in loops or not."""
    case, config = (
        encoder_case(random_quantized_encoder(SHAPE, 0), [5, 9], 0),
        resolve_config("tiny"),
    )
    compiled = compile_graph(case.graph, config, Encode(nests=loops), Compress(loops=loops))
    size = compiled.end - MEMORY_BASE
    device = FunctionalDevice(config, memory_bytes=size)
    run = GraphRun(device, compiled)
    run.load(case.inputs)
    after = c_host().play(compiled.program, device.read(MEMORY_BASE, size))
    device.write(MEMORY_BASE, after)
    wanted = interpret(case.graph, case.inputs)
    written = list(run.written)
    assert written
    for name in written:
        assert np.array_equal(run.read(name), wanted[name]), name
