"""A plan has all that a model needs to run, and is refused if it is not whole."""

import json
from zipfile import ZipFile

import numpy as np
import pytest

from celosia.sw.quantize.graphs.files.plan_file import FORMAT, load_model_plan, save_model_plan
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError
from celosia.sw.quantize.graphs.quantized import run_model
from tests.support.quantized_exports import inputs, quantized


def saved(name, folder):
    path = folder / "model.plan"
    with path.open("wb") as file:
        save_model_plan(quantized(name), {"preset": "base"}, file)
    return path


@pytest.mark.parametrize("name", ["bert-17", "llama"])
def test_a_model_from_a_file_computes_the_same(name, tmp_path):
    model, setting = load_model_plan(saved(name, tmp_path))
    assert setting == {"preset": "base"}
    given = inputs(name, 0)
    results = [run_model(each, given) for each in (model, quantized(name))]
    (found,), (expected,) = (each.outputs.values() for each in results)
    assert np.array_equal(found, expected)
    assert results[0].saturated == results[1].saturated


def test_a_file_that_is_cut_short_or_of_another_format_is_refused(tmp_path):
    path = saved("vit", tmp_path)
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:size])
        with pytest.raises(PlanFileError, match=r"model\.plan: is no whole plan"):
            load_model_plan(path)
    with ZipFile(path, "w") as archive:
        archive.writestr("plan.json", '{"format": "celosia.model_plan/0"}')
    with pytest.raises(PlanFileError, match=r"is of format 'celosia.model_plan/0', not"):
        load_model_plan(path)
    with ZipFile(path, "w") as archive:
        archive.writestr("plan.json", json.dumps({"format": FORMAT}))
    with pytest.raises(PlanFileError, match="is no whole plan"):
        load_model_plan(path)
    with pytest.raises(PlanFileError, match=r"nowhere\.plan"):
        load_model_plan(tmp_path / "nowhere.plan")
