"""Values that stand in another one: nobody moves them, and all elements are right."""

from itertools import pairwise

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.ir import graph_interpret
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.quantized import instantiate, interpreted, run_model
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.units import Join

ROWS, WIDTH = 9, 16
ATTRIBUTES = {"gelu": {"form": "erf"}, "relu": {}, "silu": {"alpha": 1.0}}


def floats(*shape):
    return np.random.default_rng(shape).normal(0, 1, shape).astype(np.float32)


class Model(GraphBuilder):
    """Products of an input of nine rows, and what is behind them."""

    def __init__(self, *batch: int):
        super().__init__("joined")
        self.x = self.input("x", TensorType("float32", (*batch, ROWS, WIDTH)))

    def product(self, source: str, cols: int, loud: float = 1.0) -> str:
        rows = self.type(source).shape[-1]
        weights = floats(rows, cols) * np.float32(loud * rows**-0.5)
        return self.op("matmul", source, self.constant(weights))

    def part(self, kind: str, cols: int, loud: float = 1.0) -> str:
        y = self.product(self.x, cols, loud)
        if kind == "norm":
            ones, zeros = np.ones(cols, np.float32), np.zeros(cols, np.float32)
            known = (self.constant(ones), self.constant(zeros))
            return self.op("layernorm", y, *known, epsilon=1e-5, axis=self.type(y).rank - 1)
        return self.op(kind, y, **ATTRIBUTES[kind]) if kind in ATTRIBUTES else y

    def joined(self, parts: list[str], axis: int) -> str:
        return self.op("concat", *parts, axis=axis, name="joined")


def quantized(graph: FloatGraph):
    random = np.random.default_rng(7)
    shape = graph.inputs["x"].shape
    samples = [{"x": random.normal(0, 1, shape).astype(np.float32)} for _ in range(8)]
    formats = calibrate(lambda _: graph, samples)
    return instantiate(graph, formats), samples[0], formats


def noise(graph, model, sample, name="y"):
    """An output's numbers over what integers change of them, in dB."""
    real = interpret(graph, sample)[name]
    found = run_model(model, sample, interpreted).outputs[name]
    return 10 * np.log10(np.square(real).sum() / np.square(real - found).sum())


def devices_agree(model, sample, preset):
    """The functional device computes every element of the integer graphs."""
    config = resolve_config(preset)

    def segment(_number, graph, given):
        run = GraphRun(
            FunctionalDevice(config, memory_bytes=1 << 20, seed=1), compile_graph(graph, config)
        )
        run.load(given)
        run.run()
        expected = graph_interpret.interpret(graph, given)
        for tensor in run.written:
            assert np.array_equal(run.read(tensor), expected[tensor]), tensor
        return expected

    run_model(model, sample, segment)


@pytest.mark.parametrize("preset", ["tiny", "base"])
@pytest.mark.parametrize("axis", [0, 1], ids=["below", "beside"])
@pytest.mark.parametrize(
    "kinds",
    [("none", "none"), ("gelu", "relu", "none"), ("norm", "none"), ("norm", "silu")],
    ids="-".join,
)
def test_parts_are_written_in_their_place(kinds, axis, preset):
    model = Model()
    cols = [24, 24, 24] if axis == 0 else [5, 24, 19]
    parts = [model.part(kind, count) for kind, count in zip(kinds, cols, strict=False)]
    graph = model.finish({"y": model.product(model.joined(parts, axis), 8)})
    found, sample, formats = quantized(graph)
    (join,) = find_units(graph).of(Join)
    corners = [(view.row, view.col) for view in join.parts.values()]
    ends = [(ROWS * at, 0) if axis == 0 else (0, sum(cols[:at])) for at in range(len(parts))]
    assert corners == ends
    assert len(found.segments) == 1
    assert not found.host_operators
    assert not formats.apart
    assert noise(graph, found, sample) > 34
    devices_agree(found, sample, preset)


def test_what_the_host_reads_of_it_is_one_tensor():
    model = Model(1)
    graph = model.finish({"y": model.joined([model.part("none", 8), model.part("none", 3)], 2)})
    found, sample, _ = quantized(graph)
    ((_, form),) = found.segments[0].outputs.items()
    assert (form.key, form.role) == ("joined", "wide")
    assert noise(graph, found, sample) > 40
    devices_agree(found, sample, "tiny")


@pytest.mark.parametrize(("loud", "apart"), [(1.0, False), (40.0, True)])
def test_a_step_that_costs_other_readers_a_tenth_of_a_decibel_is_not_shared(loud, apart):
    """A loud part beside a quiet one, which is read alone, too."""
    model = Model()
    quiet, other = model.part("gelu", 24), model.part("gelu", 24, loud)
    outputs = {"y": model.product(model.joined([quiet, other], 1), 8)}
    outputs["alone"] = model.product(quiet, 8)
    graph = model.finish(outputs)
    found, sample, formats = quantized(graph)
    assert formats.apart == ({"joined"} if apart else frozenset())
    assert found.host_operators == ({"concat": 1} if apart else {})
    assert noise(graph, found, sample, "alone") > 30
    units = find_units(graph, found.apart)
    assert bool(units.of(Join)) != apart
    if apart:
        assert units.refusals["joined"] == "one step for all of its parts would cost accuracy"


def twice(model):
    part = model.part("none", 8)
    return model.joined([part, part], 1), {}


def given(model):
    return model.joined([model.part("none", 8), model.x], 1), {}


def texts(model):
    return model.joined([model.part("none", 8), model.part("gelu", 8)], 1), {}


def read(model):
    parts = [model.part("none", 8), model.part("gelu", 8)]
    return model.joined(parts, 1), {"read": parts[0]}


def again(model):
    parts = [model.part("none", 8), model.part("gelu", 8), model.part("relu", 8)]
    other = model.op("concat", *parts[1:], axis=1)
    return model.joined(parts[:2], 1), {"other": model.product(other, 4)}


def behind(model):
    first = model.part("none", 8)
    second = model.product(model.op("erf", first), 8)
    return model.joined([first, second], 1), {}


def nested(model):
    inner = model.op("concat", model.part("none", 8), model.part("gelu", 8), axis=1)
    return model.joined([inner, model.part("relu", 8)], 1), {}


@pytest.mark.parametrize(
    ("make", "batch", "reason"),
    [
        (twice, (), "a part of it is the host's, or in it twice"),
        (given, (), "a part of it is the host's, or in it twice"),
        (texts, (2,), "rows of several texts are put together"),
        (read, (), "the host reads a part of it"),
        (again, (), "a part of it is in another tensor, too"),
        (behind, (), "its parts are computed before and behind what the host does"),
        (nested, (), "a part of it cannot be written in the rows of another tensor"),
    ],
)
def test_the_host_puts_others_together_and_the_reason_is_said(make, batch, reason):
    model = Model(*batch)
    joined, outputs = make(model)
    graph = model.finish({"y": model.product(joined, 4), **outputs})
    units = find_units(graph)
    refused = {name: why for name, why in units.refusals.items() if why == reason}
    assert len(refused) == 1
    assert not refused.keys() & units.units.keys()
    found, sample, _ = quantized(graph)
    assert found.host_operators["concat"] == (2 if make is again else 1)  # It reads the part, too.
    assert noise(graph, found, sample) > 30


def test_columns_beside_each_other_do_not_overlap():
    model = Model()
    parts = [model.part("none", cols) for cols in (1, 2, 3)]
    (join,) = find_units(model.finish({"y": model.joined(parts, 1)})).of(Join)
    assert all(a.col + a.cols == b.col for a, b in pairwise(join.parts.values()))
    assert sum(view.cols for view in join.parts.values()) == 6
