"""A program that was compiled before is what compiling makes, and is refused if it is not."""

from dataclasses import replace

import pytest

from celosia.isa.encoding import pack_ring
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sw.compiler import passes
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.saved_program import SavedProgram
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.models.cases import encoder_layer_case, random_quantized_encoder, softmax_case
from celosia.sw.planning.choices import DEFAULT
from celosia.sw.reference.encoder import EncoderShape
from tests.support.quantized_exports import quantized

SHAPE = EncoderShape(layers=2, width=32, heads=2, hidden=64)
TINY, TIMING = resolve_config("tiny"), MemoryTiming()
LAYER = encoder_layer_case(random_quantized_encoder(SHAPE, 0), [20, 3], 0).graph
COMPILED = compile_graph(LAYER, TINY, Decide(DEFAULT), timing=TIMING)  # It has loops.
SAVED = SavedProgram.of(COMPILED)


def taken_up(saved, graph=LAYER, config=TINY):
    return compile_graph(graph, config, *saved.passes(), timing=TIMING)


def never(*_arguments, **_more):
    raise AssertionError("it was compiled")


@pytest.mark.parametrize(
    ("name", "preset"),
    [
        *(("layer", "tiny"), ("layer", "base"), ("bert-17", "base"), ("vit", "base")),
        *(pytest.param(name, "tiny", marks=pytest.mark.nightly) for name in ("bert-17", "vit")),
    ],
)
def test_nothing_is_compiled_and_all_is_the_same(name, preset, monkeypatch):
    config = resolve_config(preset)
    graphs = [LAYER] if name == "layer" else [each.graph for each in quantized(name).segments]
    for graph in graphs:
        wanted = compile_graph(graph, config, timing=TIMING)
        with monkeypatch.context() as patched:
            for pass_ in ("expand", "schedule", "schedule_by_need", "compress_loops"):
                patched.setattr(passes, pass_, never)
            found = taken_up(SavedProgram.of(wanted), graph, config)
        for field in ("program", "commands", "ops", "addresses", "end", "plan"):
            assert getattr(found, field) == getattr(wanted, field)
        assert found.graph.constants.keys() == wanted.graph.constants.keys()
        assert found.expected(TIMING) == wanted.expected(TIMING)


def test_commands_are_those_of_the_operations():
    assert len(SAVED.ring) < len(pack_ring(passes.chain(*COMPILED.commands)))
    for program in (COMPILED.program[:-1], COMPILED.program[::-1], COMPILED.program * 2):
        with pytest.raises(ValueError, match=r"command \d+ is"):
            taken_up(replace(SAVED, ring=pack_ring(program)))
    with pytest.raises(ValueError, match="not a whole number of"):
        taken_up(replace(SAVED, ring=SAVED.ring[:-1]))


def test_operations_are_those_of_the_graph_and_in_an_order_that_computes_it():
    with pytest.raises(ValueError, match=r"line 1, column 1: "):
        taken_up(replace(SAVED, ops=b"?"))
    with pytest.raises(UnicodeDecodeError):
        taken_up(replace(SAVED, ops=b"\xff"))
    first, *rest = SAVED.ops.splitlines(keepends=True)
    with pytest.raises(ValueError, match="hold nothing"):
        taken_up(replace(SAVED, ops=b"".join(rest)))
    with pytest.raises(ValueError, match="there is no operator 'nobody'"):
        taken_up(replace(SAVED, ops=b"".join([b"nobody:" + first.split(b":", 1)[1], *rest])))
    with pytest.raises(ValueError, match="the graph is softmax 4x8"):
        taken_up(SAVED, softmax_case(4, 8, 0).graph)
