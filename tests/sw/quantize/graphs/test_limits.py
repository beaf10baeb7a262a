"""ReLUs with an upper end: what saturates there, on the host's graph, in integers, on a device."""

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import GraphError, TensorType
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.ir import graph_interpret
from celosia.sw.quantize.graphs.quantized import run_model
from celosia.sw.quantize.units.find_units import find_units
from tests.support.quantized_graph import quantize_graph

MOST = 1.5
ROWS, COLS = 20, 16


def graph(order=("max", "min"), *, readers=("product",), most=MOST, behind="matmul"):
    """A product that is cut off at 0 and `most`, whom another product, the host or a join reads."""
    random, b = np.random.default_rng(0), GraphBuilder("limits")

    def weights():
        return b.constant(random.standard_normal((COLS, COLS), np.float32) / 2)

    x = b.input("x", TensorType("float32", (ROWS, COLS)))
    y = b.op("matmul", x, weights()) if behind == "matmul" else x
    for op in order:
        y = b.op(op, y, *ends(b, op, most))
    outputs = {"y": y} if "host" in readers else {}
    if "join" in readers:
        other = b.op("gelu", b.op("matmul", x, weights()), form="erf")
        y = b.op("concat", y, other, axis=0)
    if readers != ("host",):
        outputs["z"] = b.op("matmul", y, weights())
    return recognize(b.finish(outputs)).graph


def ends(b, op, most):
    return {"max": [b.constant(np.float32(0))], "min": [b.constant(np.float32(most))]}.get(op, [])


def drawn(seed, spread=1.0):
    return {"x": np.random.default_rng(seed).standard_normal((ROWS, COLS), np.float32) * spread}


def quantized(found, **options):
    return quantize_graph(found, [drawn(seed) for seed in range(9)], **options)


@pytest.mark.parametrize("readers", [("product",), ("host",), ("product", "host"), ("join",)])
@pytest.mark.parametrize("order", [("max", "min"), ("min", "max"), ("relu", "min")])
def test_the_device_computes_it_as_the_float_graph_does(order, readers):
    found = graph(order, readers=readers)
    assert [node.op for node in found.nodes][:2] == ["matmul", "relu"]
    assert not {"min", "max"} & {node.op for node in found.nodes}
    model, given = quantized(found), drawn(11)
    integers = run_model(model, given).outputs
    for name, real in interpret(found, given).items():
        lost = np.square(integers[name] - real).sum() / np.square(real).sum()
        assert 10 * np.log10(1 / lost) > 32


@pytest.mark.parametrize("clip", ["error", "minmax", "percentile"])
@pytest.mark.parametrize("readers", [("host",), ("product", "host")])
def test_nothing_is_above_the_end_far_outside_of_calibration(readers, clip):
    found = graph(readers=readers)
    far = run_model(quantized(found, clip=clip), drawn(12, spread=9.0)).outputs["y"]
    assert MOST * 0.99 < far.max() <= MOST * 1.0001
    assert far.min() == 0


@pytest.mark.parametrize(("high", "least"), [(1.0, 0), (1.5, 32), (4.0, 32)])
def test_a_range_that_a_file_says_ends_no_higher(high, least):
    found = graph()
    (cut,) = (node.name for node in found.nodes if node.op == "relu")
    real = interpret(found, drawn(12))["z"]
    integers = run_model(quantized(found, ranges={cut: (0.0, high)}), drawn(12)).outputs["z"]
    lost = np.square(integers - real).sum() / np.square(real).sum()
    assert least <= 10 * np.log10(1 / lost) < least + 20


def test_the_host_cuts_off_what_no_product_makes():
    units = find_units(graph(behind="input"))
    assert "its upper end is not behind a product" in units.refusals.values()


def test_an_upper_end_is_above_zero():
    builder = GraphBuilder("odd")
    x = builder.input("x", TensorType("float32", (2, 3)))
    with pytest.raises(GraphError, match=r"its upper end is -1\.0, not above 0"):
        builder.op("relu", x, most=-1.0)


@pytest.mark.parametrize("readers", [("product",), ("product", "host")])
def test_devices_compute_every_tensor_of_it(readers):
    config = resolve_config("base", ())

    def segment(_, integers, given):
        device = FunctionalDevice(config, memory_bytes=1 << 22)
        run = GraphRun(device, compile_graph(integers, config))
        run.load(given)
        run.run()
        expected = graph_interpret.interpret(integers, given)
        for tensor in run.written:
            np.testing.assert_array_equal(run.read(tensor), expected[tensor], tensor)
        return expected

    run_model(quantized(graph(readers=readers)), drawn(13, spread=3.0), segment)
