"""Caches: inputs that operators append to, in the forms of the compiler."""

import re
from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.decoding.texts import Text
from celosia.sw.ir.graph import MatMul, Requantize, Sums, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.ir.graph_verify import verify
from celosia.sw.ir.program import Load, Store
from celosia.sw.ir.program_verify import verify as verify_program
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.mlir.read_graph import parse_graph
from tests.sw.models.decoder_runs import model

TINY = resolve_config("tiny", ())


def appending(*, first=3, read_before=False, cache=True, copies=()):
    """A product whose rows go to a cache, and another one that reads the cache."""
    builder = GraphBuilder("appending")
    a = builder.input(Tensor("a", "int8", 2, 4))
    held = builder.input(Tensor("held", "int8", 8, 4, cache=cache))
    w = builder.constant("w", np.eye(4, dtype=np.int8))
    out = builder.tensor(Tensor("out", "int32", 8 if not read_before else 2, 4))

    def read():
        source = held if not read_before else held.part(row=first, rows=2)
        builder.matmul("read", out, source, w, Sums())

    if read_before:
        read()
    builder.matmul("append", held.part(row=first, rows=2), a, w, Requantize(1.0), copies=copies)
    if not read_before:
        read()
    return builder.finish("out")


def values():
    return {
        "a": np.arange(8, dtype=np.int8).reshape(2, 4),
        "held": np.full((8, 4), 9, np.int8),
    }


def test_what_is_appended_is_read_and_all_else_is_as_given():
    inputs = values()
    found = interpret(appending(), inputs)
    expected = inputs["held"].copy()
    expected[3:5] = inputs["a"]
    assert (found["held"] == expected).all()
    assert (found["out"] == expected).all()
    assert (inputs["held"] == 9).all(), "the caller's array stays"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"read_before": True}, "held[3:5, 0:4] is written after it was read, or a second time"),
        ({"cache": False}, "held[3:5, 0:4] is written a second time"),
        ({"first": 7}, "held[7:9, 0:4] is not inside of 8x4"),
        ({"copies": (Tensor("held", "int8", 8, 4).view().part(row=0, rows=1),)}, "copies: 1 are"),
    ],
)
def test_wrong_uses_of_caches_are_refused(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        appending(**arguments)


def test_a_cache_is_an_input():
    graph = appending()
    tensors = {**graph.tensors, "out": replace(graph.tensors["out"], cache=True)}
    with pytest.raises(ValueError, match="a cache is an input"):
        verify(replace(graph, tensors=tensors))


def test_sums_as_they_are_have_no_copies():
    graph = model().graph([Text(2), Text(3)], 8)
    product = next(op for op in graph.ops if isinstance(op, MatMul) and op.copies)
    ops = tuple(replace(op, finish=Sums()) if op is product else op for op in graph.ops)
    tensors = {
        **graph.tensors,
        "0.key.heads.0": replace(graph.tensors["0.key.heads.0"], type="int32"),
    }
    with pytest.raises(ValueError, match="sums that stay as they are have none"):
        verify(replace(graph, ops=ops, tensors=tensors))


@pytest.mark.parametrize("texts", [[Text(2, 3)], [Text(2), Text(3)]])
def test_decoders_read_back_from_their_text(texts):
    graph = model().graph(texts, 8)
    text = print_graph(graph)
    again = parse_graph(text, graph.constants)
    assert again.ops == graph.ops
    assert again.tensors == graph.tensors
    assert print_graph(again) == text


def programs():
    graph = model().graph([Text(5, 2)], 12)
    compiled = compile_graph(graph, TINY)
    return compiled, [written.op for written in compiled.ops]


def check(compiled, ops):
    verify_program(ops, TINY, compiled.graph)


def test_programs_store_just_what_is_appended():
    compiled, ops = programs()
    check(compiled, ops)
    store = next(op for op in ops if isinstance(op, Store) and op.view.tensor == "0.key.cache")
    elsewhere = replace(store, view=replace(store.view, row=store.view.row + 2))
    with pytest.raises(ValueError, match="is stored a second time"):
        check(compiled, [elsewhere if op is store else op for op in ops])


def test_loads_of_new_rows_wait_for_them():
    compiled, ops = programs()
    new = next(view for view in compiled.graph.appended if view.tensor == "0.key.cache")
    load = next(op for op in ops if isinstance(op, Load) and op.view.meets(new))
    with pytest.raises(ValueError, match="waits for 0 stores, not for"):
        check(compiled, [replace(op, after=0) if op is load else op for op in ops])
    stores = [op for op in ops if isinstance(op, Store) and op.view.meets(load.view)]
    with pytest.raises(ValueError, match="is loaded before it is stored"):
        check(compiled, [*ops[: ops.index(stores[0])], replace(load, after=0)])
