"""The same file and calibration: `run` and `generate` have the same integers."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.lab.exports.writing.size import SMALL
from celosia.lab.training.scorers import integer_scorer
from celosia.sim.workloads.models.prepare import ModelRun, prepare
from celosia.sw.decoding.decoder import quantize_decoder
from celosia.sw.decoding.read import read_decoder
from celosia.sw.decoding.texts import Text
from celosia.sw.quantize.graphs.quantized import run_model
from tests.support.decoder_exports import exported, save

LENGTH, TEXTS = 24, 6
ANGLES = "angles"
POSITIONS = "rows of "
"""Begins the name of what a step has the rows of its tokens of."""


@pytest.mark.parametrize("name", ["gpt2", "opt", "llama"])
def test_run_and_generate_have_the_same_integers(name, tmp_path):
    path = save(exported(name), str(tmp_path / "model.onnx"))
    tokens = np.random.default_rng(0).integers(0, SMALL.vocabulary, (TEXTS + 1, 1, LENGTH))
    shown = np.ones_like(tokens)
    samples = {"input_ids": tokens[:TEXTS], "attention_mask": shown[:TEXTS]}
    model = prepare(ModelRun(path, {"batch": 1, "sequence": LENGTH}, samples), 0).model
    decoder = quantize_decoder(read_decoder(path, LENGTH), tokens[:TEXTS, 0].tolist())

    one, other = ({}, {})
    for steps, formats in ((one, model.formats), (other, decoder.formats.forms)):
        # Angles and positions are constants of the whole text, and inputs of a step.
        steps |= {
            ANGLES
            if form.role == ANGLES
            else replace(form, key=form.key.removeprefix(POSITIONS)): (
                found.type,
                found.zero_point,
                *found.steps,
            )
            for form, found in formats.items()
            if form.role != "sums"
        }
    assert one == other

    given = {"input_ids": tokens[TEXTS], "attention_mask": shown[TEXTS]}
    (found,) = run_model(model, given, count=False).outputs.values()
    text = tokens[TEXTS, 0].tolist()
    np.testing.assert_array_equal(found[0], integer_scorer(decoder)(text))
    step = decoder.step([Text(0, LENGTH)])
    constants = [
        sorted(
            value.tobytes()
            for segment in each.segments
            for value in segment.graph.constants.values()
        )
        for each in (model, step.model)
    ]
    assert constants[0] == constants[1]
