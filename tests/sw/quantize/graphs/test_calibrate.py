"""One calibration is for graphs of any sizes, and its samples may be of several."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import GraphError, TensorType
from celosia.sw.ir import graph_interpret
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.formats import Format
from celosia.sw.quantize.graphs.quantized import instantiate, run_model
from celosia.sw.quantize.units.values import Form
from tests.support.quantized_exports import inputs, recognized

LENGTHS = (8, 16, 40)
CONFIG = resolve_config("base", ())
NAMES = ("bert-17", "t5-encoder")
"""T5 adds a bias to its scores, whose steps are those of queries and keys."""


def graph_of(name):
    return lambda types: recognized(name, types["input_ids"].shape[1])


@cache
def formats(name, lengths=LENGTHS):
    samples = [inputs(name, seed, tokens) for seed in range(1, 4) for tokens in lengths]
    return calibrate(graph_of(name), samples)


@cache
def model(name, tokens):
    return instantiate(recognized(name, tokens), formats(name))


def on_the_accelerator(_, graph, given):
    """What a functional model of the accelerator computes of a segment."""
    run = GraphRun(
        FunctionalDevice(CONFIG, memory_bytes=1 << 25, seed=1), compile_graph(graph, CONFIG)
    )
    run.load(given)
    run.run()
    expected = graph_interpret.interpret(graph, given)
    for tensor in run.written:
        assert np.array_equal(run.read(tensor), expected[tensor]), tensor
    return expected


@pytest.mark.parametrize("tokens", LENGTHS)
@pytest.mark.parametrize("name", NAMES)
def test_graphs_of_several_lengths_have_the_integers_of_one_calibration(name, tokens):
    found = model(name, tokens)
    weights = [
        value
        for segment in found.segments
        for key, value in segment.graph.constants.items()
        if key.endswith(".weights")
    ]
    wanted = [integer.weights for integer in formats(name).integers.values()]
    assert len(weights) == len(wanted)
    assert all(map(np.array_equal, weights, wanted))
    for form, used in found.formats.items():
        if form.role not in {"sums", "onto"}:
            assert used is formats(name).forms[form]


@pytest.mark.parametrize("tokens", LENGTHS)
@pytest.mark.parametrize("name", NAMES)
def test_each_length_is_computed_to_the_bit_and_close_to_float(name, tokens):
    given = inputs(name, 13, tokens)
    (output,) = run_model(model(name, tokens), given, on_the_accelerator).outputs.values()
    (real,) = interpret(recognized(name, tokens), given).values()
    shown = given["attention_mask"] == 1 if "attention_mask" in given else slice(None)
    lost = np.square(real - output)[shown].sum() / np.square(real[shown]).sum()
    assert 10 * np.log10(lost) < -30


def test_samples_of_one_length_find_the_formats_of_that_length_alone():
    alone, several = formats("bert-17", (16,)), formats("bert-17")
    assert alone.forms.keys() == several.forms.keys()
    assert any((alone.forms[form].steps != several.forms[form].steps).any() for form in alone.forms)


def product(*, rows=4, cols=16, name="y"):
    builder = GraphBuilder("product")
    x = builder.input("x", TensorType("float32", (rows, cols)))
    weights = builder.constant(np.eye(cols, 16, dtype=np.float32))
    return builder.finish({"y": builder.op("matmul", x, weights, name=name)})


def ones(rows, cols=16):
    return {"x": np.ones((rows, cols), np.float32)}


def test_a_graph_that_was_not_calibrated_is_refused():
    found = calibrate(lambda types: product(rows=types["x"].shape[0]), [ones(4), ones(7)])
    assert instantiate(product(rows=2), found).segments[0].graph.ops
    with pytest.raises(GraphError, match="product: z: no such product was calibrated"):
        instantiate(product(name="z"), found)
    with pytest.raises(GraphError, match=r"y: weights of \(8, 16\) were calibrated as \(16, 16\)"):
        instantiate(product(cols=8), found)


def test_columns_with_steps_of_their_own_have_one_number():
    growing = {"x": np.arange(1, 17, dtype=np.float32) * np.eye(16, dtype=np.float32)}
    found = calibrate(lambda _: product(rows=16), [growing])
    narrow = calibrate(lambda _: product(cols=8), [ones(4, 8)])
    assert len(set(found.forms[Form("x", "small")].steps)) > 1
    message = "x: its 8 columns were calibrated as 16, each with a step of its own"
    with pytest.raises(GraphError, match=message):
        instantiate(product(cols=8), replace(narrow, forms=found.forms))
    even = {Form("x", "small"): Format("int8", np.ones(16))}
    model = instantiate(product(cols=8), replace(narrow, forms=found.forms | even))
    assert model.formats[Form("x", "small")].steps.tolist() == [1.0] * 8


def test_columns_of_samples_are_the_same():
    with pytest.raises(GraphError, match="x: it has 8 columns in sample 1 of the calibr"):
        calibrate(lambda types: product(cols=types["x"].shape[1]), [ones(4), ones(4, 8)])


def test_a_sample_is_needed():
    with pytest.raises(GraphError, match="there is no sample to calibrate on"):
        calibrate(lambda _: product(), [])


@pytest.mark.parametrize("clip", ["error", "minmax"])
def test_a_range_that_a_file_says_counts_whatever_samples_show(clip):
    """127 is the largest magnitude of either side."""
    said = calibrate(lambda _: product(), [ones(4)], ranges={"x": (-2.0, 1.0)}, clip=clip)
    assert said.forms[Form("x", "small")].steps == pytest.approx([2 / 127] * 16)
    other = calibrate(lambda _: product(), [ones(4)], ranges={"z": (-2.0, 1.0)}, clip=clip)
    assert other.forms[Form("x", "small")].steps != pytest.approx([2 / 127] * 16)
