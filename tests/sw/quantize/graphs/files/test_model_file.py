"""A model that is read computes what it did when it was saved; one that is cut is refused."""

import io
import json
from functools import cache
from zipfile import ZipFile

import numpy as np
import pytest

from celosia.lab.exports.catalog import EXPORTS
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.files.model_file import FORMAT, Calibrated, load_model, save_model
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError
from celosia.sw.quantize.graphs.quantized import instantiate, run_model
from tests.support.quantized_exports import inputs, recognized


@cache
def calibrated(name):
    """An export for two sizes, calibrated on one of them."""
    graphs = recognized(name), recognized(name, 10)
    formats = calibrate(lambda _: graphs[0], [inputs(name, seed) for seed in range(1, 4)])
    return Calibrated(graphs=graphs, formats=formats, tables={"words": np.arange(6)})


def saved(name, folder):
    path = folder / "model.plan"
    with path.open("wb") as file:
        save_model(calibrated(name), {"preset": "base"}, file, {"programs/0": b"abc" * 999})
    return path


def same(found, expected):
    assert found.host == expected.host
    assert found.masks == expected.masks
    assert found.outputs == expected.outputs
    assert len(found.segments) == len(expected.segments)
    for one, other in zip(found.segments, expected.segments, strict=True):
        assert print_graph(one.graph) == print_graph(other.graph)
        assert one.keys == other.keys
        for name, value in other.graph.constants.items():
            assert np.array_equal(one.graph.constants[name], value)


@pytest.mark.parametrize("name", EXPORTS)
def test_a_model_from_a_file_has_the_same_integers_for_each_of_its_sizes(name, tmp_path):
    found = load_model(saved(name, tmp_path))
    assert found.setting == {"preset": "base"}
    assert found.members["programs/0"] == b"abc" * 999
    assert found.calibrated.tables["words"].tolist() == [0, 1, 2, 3, 4, 5]
    model = calibrated(name)
    for one, graph in zip(found.models, model.graphs, strict=True):
        same(one, instantiate(graph, model.formats))


def test_a_model_from_a_file_computes_the_same(tmp_path):
    model = calibrated("bert-17")
    found, given = load_model(saved("bert-17", tmp_path)).models[1], inputs("bert-17", 0, 10)
    results = [
        run_model(each, given) for each in (found, instantiate(model.graphs[1], model.formats))
    ]
    (one,), (other,) = (each.outputs.values() for each in results)
    assert np.array_equal(one, other)
    assert results[0].saturated == results[1].saturated


def test_the_same_model_makes_the_same_file_and_stores_what_graphs_share_once(tmp_path):
    model, files = calibrated("bert-17"), [io.BytesIO() for _ in range(3)]
    for file in files[:2]:
        save_model(model, {}, file)
    assert files[0].getvalue() == files[1].getvalue()
    one = Calibrated(graphs=model.graphs[:1], formats=model.formats, tables=model.tables)
    save_model(one, {}, files[2])
    with ZipFile(files[0]) as whole, ZipFile(files[2]) as part:
        sizes = [
            sum(each.file_size for each in archive.infolist() if each.filename.startswith("arrays"))
            for archive in (whole, part)
        ]
    assert sizes[0] < 1.05 * sizes[1]


def test_weights_are_there_once_as_integers(tmp_path):
    model = calibrated("bert-17")
    found = load_model(saved("bert-17", tmp_path)).calibrated.graphs[0]
    shapes = [linear.weights.shape for linear in model.formats.integers.values()]
    for name, value in model.graphs[0].constants.items():
        if (
            value.shape in shapes
            and value.dtype == np.float32
            and value.ndim == 2
            and name in {node.inputs[1] for node in model.graphs[0].nodes if node.op == "matmul"}
        ):
            assert not found.constants[name].any()
            assert value.any()
        else:
            assert np.array_equal(found.constants[name], value)


def test_a_file_that_is_cut_short_or_of_another_format_is_refused(tmp_path):
    path = saved("bert-17", tmp_path)
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:size])
        with pytest.raises(PlanFileError, match=r"model\.plan: is no whole plan"):
            load_model(path)
    for old in ("celosia.model_plan/3", "celosia.encoder/3", 3):
        with ZipFile(path, "w") as archive:
            archive.writestr("plan.json", json.dumps({"format": old}))
        message = rf"is of format {old!r}, not celosia.model/4: `celosia build MODEL.onnx -o FILE"
        with pytest.raises(PlanFileError, match=message):
            load_model(path)
    with ZipFile(path, "w") as archive:
        archive.writestr("plan.json", json.dumps({"format": FORMAT}))
    with pytest.raises(PlanFileError, match="is no whole plan"):
        load_model(path)
    with pytest.raises(PlanFileError, match=r"nowhere\.plan"):
        load_model(tmp_path / "nowhere.plan")


@pytest.mark.parametrize(("count", "fits"), [(0, False), (1, True), (64, True), (65, False)])
def test_a_file_has_64_graphs_at_most(count, fits, tmp_path):
    builder = GraphBuilder("g")
    x = builder.input("x", TensorType("float32", (2, 16)))
    graph = builder.finish({"y": builder.op("tanh", x)})
    path = tmp_path / "m.plan"
    formats = calibrated("bert-17").formats
    with path.open("wb") as file:
        save_model(Calibrated(graphs=(graph,) * count, formats=formats), {}, file)
    if fits:
        assert len(load_model(path).models) == count
    else:
        with pytest.raises(PlanFileError, match=f"graphs: there are {count}$"):
            load_model(path)
