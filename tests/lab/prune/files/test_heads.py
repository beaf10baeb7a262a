"""Heads that are found in exports and removed, against ONNX Runtime."""

import numpy as np
import pytest
from onnx import checker

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from celosia.lab.prune.files.heads import Attention, attentions, find_heads
from celosia.lab.prune.files.narrower import without_heads
from celosia.lab.prune.parts.part import Gram
from celosia.lab.prune.parts.share import parse_share
from celosia.lab.prune.pruned import Wanted
from celosia.sim.support.problems import InputError
from celosia.sw.frontend.importer.import_model import translate
from celosia.sw.frontend.importer.source.model_file import checked_model
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.models.steps import Import, Model, Recognize, follow
from tests.support.onnx_runtime import run_session, runtime_session

TOKENS, WIDTH = 10, 16
SIZES = {"batch": 1, "sequence": TOKENS, "encoder_sequence": 7}


class File:
    """A small export, what attention it has, and how it is run."""

    def __init__(self, name):
        self.proto = EXPORTS[name].build(SMALL)
        self.inputs = EXPORTS[name].inputs(SMALL, 0, tokens=TOKENS)
        shapes = (each.type.tensor_type.shape.dim for each in self.proto.graph.input)
        opened = {each.dim_param for shape in shapes for each in shape}
        self.sizes = {name: size for name, size in SIZES.items() if name in opened}
        imported = translate(checked_model(self.proto), self.sizes)
        recognized = follow(Recognize(), model=Model().with_made(Import, imported)).recognized
        self.known = attentions(recognized.graph)

    def run(self, proto):
        found = translate(checked_model(proto), self.sizes)
        if found.lost:
            raise ImportProblem("it has lost an output")
        return interpret(found.graph, self.inputs)

    def grams(self, heads, kept):
        """Activations in which the `kept` heads are large, and others small."""
        random, found = np.random.default_rng(4), []
        for each in heads:
            rows = random.normal(size=(200, each.width))
            rows *= np.where(np.isin(np.arange(each.width) // WIDTH, kept), 100, 0.01)
            gram = Gram(each.width)
            gram.add(rows.astype(np.float32))
            found.append(gram)
        return found


FORMS = {
    "bert-17": [0, 2],
    "bert-dynamo": [1, 2],
    "bert-fused": [0, 2],
    "gpt2": [1, 3],
    "llama": [2, 3],
    "gpt-neox": [0, 3],
}


@pytest.mark.parametrize("name", FORMS)
def test_what_heads_add_is_gone_and_nothing_else(name):
    """ONNX Runtime computes the same of the file with zeros behind the heads that go."""
    file, kept = File(name), FORMS[name]
    heads, _ = find_heads(file.proto.graph, file.known)
    assert len(heads) == len(file.known) > 0
    wanted = Wanted(
        criterion="activation", heads=parse_share("--heads", "50%", numbers=True), repair=False
    )
    grams = file.grams(heads, kept)
    narrow = without_heads(file.proto, file.known, grams, wanted, file.run)
    checker.check_model(narrow, full_check=True)
    assert {each.heads for each in attentions_of(narrow, file)} == {len(kept)}
    for each in heads:
        rows = np.moveaxis(each.reader.values.copy(), each.reader.axis, 0)
        rows[~np.isin(np.arange(len(rows)) // WIDTH, kept)] = 0
        each.reader.set(np.moveaxis(rows, 0, each.reader.axis))
    expected = run_session(runtime_session(file.proto), file.inputs)
    found = run_session(runtime_session(narrow), file.inputs)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-4)


def attentions_of(proto, file):
    """The attention of another file with the same inputs."""
    imported = translate(checked_model(proto), file.sizes)
    graph = follow(Recognize(), model=Model().with_made(Import, imported)).recognized.graph
    return attentions(graph)


def test_a_bias_for_each_head_keeps_the_heads():
    """The relative positions of T5 are one table for all layers, with a column for each head."""
    file = File("t5-encoder")
    heads, _ = find_heads(file.proto.graph, file.known)
    grams = file.grams(heads, [0, 1])
    wanted = Wanted(criterion="activation", heads=parse_share("--heads", "2", numbers=True))
    with pytest.raises(InputError, match=r"--heads 2: the file's sizes could not be followed"):
        without_heads(file.proto, file.known, grams, wanted, file.run)


def test_other_attention_has_a_reason():
    file = File("bert-17")
    found, reasons = find_heads(file.proto.graph, [Attention(heads=3, groups=3, width=16)])
    assert not found
    assert set(reasons.values()) == {"64 columns are the heads of no one attention"}
    file.proto.graph.output.append(
        type(file.proto.graph.output[0])(name="/encoder/layer.0/attention/self/query/Add_output_0")
    )
    found, reasons = find_heads(file.proto.graph, file.known)
    assert len(found) == 1
    assert any("is read by others, too" in each for each in reasons.values())
