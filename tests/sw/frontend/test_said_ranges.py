"""Files with pairs of QuantizeLinear and DequantizeLinear: their ranges are used."""

from typing import Any, cast

import numpy as np
import pytest
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from celosia.sw.frontend.importer.import_model import import_model
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.frontend.said_ranges import said_ranges
from celosia.sw.quantize.graphs.quantized import run_model
from celosia.sw.quantize.units.values import Form
from tests.support.onnx_runtime import run_session, runtime_session
from tests.support.quantized_exports import inputs, recognized
from tests.support.quantized_graph import quantize_graph

SIZES = {"batch": 2, "sequence": 16}


class Samples(CalibrationDataReader):
    """What ONNX Runtime calibrates on."""

    def __init__(self):
        self.left = [inputs("bert-17", seed) for seed in range(1, 9)]

    def get_next(self):
        # No samples are left: None says so, which the base class forgets.
        return self.left.pop() if self.left else cast("dict[str, Any]", None)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    path = tmp_path_factory.mktemp("quantized") / "plain.onnx"
    path.write_bytes(EXPORTS["bert-17"].build(SMALL).SerializeToString())
    return path


def static(plain, form):
    path = plain.with_name(f"{form.name}.onnx")
    quantize_static(
        plain,
        path,
        Samples(),
        quant_format=form,
        per_channel=True,
        weight_type=QuantType.QInt8,
        activation_type=QuantType.QUInt8,
    )
    return import_model(path, SIZES)


@pytest.fixture(scope="module")
def imported(plain):
    return static(plain, QuantFormat.QDQ)


def test_pairs_are_ranges_and_the_rest_is_the_float_model(imported):
    assert len(imported.ranges) > 60
    assert any("ranges are the file's" in note for note in imported.notes)
    assert_plain(imported)


def assert_plain(imported):
    """The operators are those of the file that is not quantized."""
    found = recognize(imported.graph).graph
    ops = [[node.op for node in each.nodes] for each in (found, recognized("bert-17"))]
    assert sorted(ops[0]) == sorted(ops[1])


def test_operators_of_integers_are_those_of_floats(plain):
    found = static(plain, QuantFormat.QOperator)
    assert len(found.ranges) > 30
    assert_plain(found)


@pytest.mark.parametrize("columns", [False, True])
def test_files_that_measure_ranges_are_the_float_model_with_their_weights(plain, columns):
    path = plain.with_name("dynamic.onnx")
    quantize_dynamic(plain, path, per_channel=columns, weight_type=QuantType.QInt8)
    found = import_model(path, SIZES)
    assert_plain(found)
    assert any("DynamicQuantizeLinear" in note for note in found.notes)
    given = inputs("bert-17", 0)
    (wanted,) = run_session(runtime_session(path), given)
    (result,) = interpret(found.graph, given).values()
    # 8 bits of operands are between them.
    assert -10 * np.log10(np.square(result - wanted).sum() / np.square(wanted).sum()) > 20


def test_the_ranges_of_the_file_are_the_steps(imported):
    graph = recognize(imported.graph).graph
    ranges = said_ranges(imported.graph, imported.ranges)
    samples = [inputs("bert-17", seed) for seed in range(1, 9)]
    model = quantize_graph(graph, samples, ranges=ranges)
    said = {value.tensor for value in model.values.values()} & ranges.keys()
    assert len(said) > 12
    for tensor in said:
        low, high = ranges[tensor]
        form = model.formats.get(Form(tensor, "small"))
        if form is not None and form.type == "int8":
            assert form.step == pytest.approx(max(-low, high) / 127)
        elif form is not None:
            assert form.step == pytest.approx((high - low) / 255, rel=0.01)
    given = inputs("bert-17", 0)
    shown = given["attention_mask"] == 1
    (real,), (found,) = interpret(graph, given).values(), run_model(model, given).outputs.values()
    error = np.square(real[shown] - found[shown]).sum() / np.square(real[shown]).sum()
    assert -10 * np.log10(error) > 20
