"""The published model on the RTL: every tensor in memory as the integer graph has it."""

from contextlib import closing

import pytest

from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.lab.fuzz.graphs.levels import check_device, check_levels
from celosia.sim.devices.devices import open_device
from celosia.sim.support.progress import silent
from celosia.sim.workloads.quantized import published_model
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.models.cases import Case
from celosia.sw.quantize.encoders.encoder import QuantizedEncoder
from celosia.sw.reference.published import MissingModelError, model_files, tokenize
from celosia.sw.reference.texts import evaluation_texts
from tests.support.levels import configured

try:
    model_files()
except MissingModelError as missing:
    pytest.skip(str(missing), allow_module_level=True)

LONG = 128
"""Tokens of the longest text."""
CONFIG = configured("base")


@pytest.fixture(scope="module")
def model() -> QuantizedEncoder:
    return published_model(silent)


def text_of(count: int) -> str:
    """Words of the evaluation texts, of which there are so many tokens."""
    words = " ".join(evaluation_texts()).split()
    for end in range(1, len(words)):
        text = " ".join(words[:end])
        (tokens,) = tokenize([text])
        if len(tokens) == count:
            return text
        assert len(tokens) < count
    raise AssertionError(f"no beginning of the texts has {count} tokens")


def case_of(model: QuantizedEncoder, texts: list[str]) -> Case:
    tokens = tokenize(texts)
    lengths = [len(text) for text in tokens]
    graph = model.graph(lengths)
    return Case(graph, {graph.inputs[0]: model.embed(tokens)})


@pytest.mark.slow
@pytest.mark.parametrize("simulator", ["functional", "verilator"])
@pytest.mark.parametrize(
    "texts",
    [pytest.param(evaluation_texts()[:7], id="seven"), pytest.param(None, id=f"{LONG} tokens")],
)
def test_every_tensor_is_that_of_the_integer_graph(model, texts, simulator):
    case = case_of(model, texts or [text_of(LONG)])
    if simulator == "functional":
        check_levels(case, CONFIG)
        return
    compiled = compile_graph(case.graph, CONFIG)
    size = compiled.end - MEMORY_BASE
    with closing(open_device(simulator, CONFIG, MemoryTiming(), size)) as device:
        check_device(case, device, compiled)
