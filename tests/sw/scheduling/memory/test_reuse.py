"""Tensors that share bytes, in every order that hardware may take."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.graphs.levels import check_device
from celosia.lab.fuzz.graphs.random_graph import random_case
from celosia.sim.devices.devices import open_device
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.reuse import Reuse
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import Case, encoder_case, random_quantized_encoder
from celosia.sw.reference.encoder import EncoderShape
from celosia.sw.scheduling.memory.check_reuse import check_reuse, sharing
from celosia.sw.scheduling.memory.fit import fit
from celosia.sw.scheduling.memory.lives import Life, lives
from celosia.sw.scheduling.memory.order import before, loads_over
from tests.sw.scheduling.memory.reordering import values_after

TINY = resolve_config("tiny")
SHAPE = EncoderShape(layers=2, width=24, heads=2, hidden=40)


def encoder() -> Case:
    return encoder_case(random_quantized_encoder(SHAPE, 0), (13, 9), 0)


def hasty(compiled: CompiledGraph) -> dict[str, int]:
    """Addresses by lives that end with the last store, whoever still loads."""
    graph, ops = compiled.graph, [written.op for written in compiled.ops]
    tensors = [graph.tensors[name] for name in compiled.addresses]
    stores = {life.name: life for life in lives(ops, graph, tensors, TINY)}
    found = [replace(life, end=min(life.end, life.begin + 1)) for life in stores.values()]
    offsets, _ = fit(found)
    start = MEMORY_BASE + (1 << 16)
    rest = {name: at for name, at in compiled.addresses.items() if name not in offsets}
    return rest | {name: start + offset for name, offset in offsets.items()}


def assert_right(compiled: CompiledGraph, case: Case, random: Random) -> None:
    expected = interpret(case.graph, case.inputs)
    found = values_after(compiled, case, TINY, random)
    assert compiled.memory is not None
    for name in set(compiled.addresses) & set(expected) - compiled.memory.gone:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


def test_an_encoder_takes_no_more_than_what_lives():
    compiled = compile_graph(encoder().graph, TINY, Reuse())
    assert compiled.memory is not None
    assert compiled.memory.peak <= 1.05 * compiled.memory.live_sum
    assert compiled.memory.dense > 2 * compiled.memory.peak
    assert compiled.end - MEMORY_BASE == compiled.memory.fixed + compiled.memory.peak
    assert not {*compiled.graph.outputs, *compiled.graph.constants} & compiled.memory.gone


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_mean_the_same_in_every_order(seed):
    case = random_case(seed, ops=8)
    compiled = compile_graph(case.graph, TINY, Reuse())
    for turn in range(3):
        assert_right(compiled, case, Random(100 * seed + turn))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1000))
def test_many_random_graphs_mean_the_same_in_every_order(seed):
    case = random_case(1000 + seed, ops=12)
    compiled = compile_graph(case.graph, TINY, Reuse())
    for turn in range(10):
        assert_right(compiled, case, Random(100 * seed + turn))


def test_bytes_that_are_used_too_soon_are_found_by_proof_and_by_reordering():
    case = encoder()
    compiled = compile_graph(case.graph, TINY)
    addresses, expected = hasty(compiled), interpret(case.graph, case.inputs)
    ops = [written.op for written in compiled.ops]
    with pytest.raises(ValueError, match=r"share bytes, but .* wait for load \d+ of|comes after"):
        check_reuse(ops, compiled.graph, addresses, TINY)
    (output,) = case.graph.outputs
    found = values_after(compiled, case, TINY, Random(1), addresses)
    assert (found[output] != expected[output]).any()


@pytest.mark.parametrize("place", [("output", "weights"), ("embedding", "weights")])
def test_what_is_needed_later_shares_nothing(place):
    case = encoder()
    compiled = compile_graph(case.graph, TINY)
    ops, graph = [written.op for written in compiled.ops], compiled.graph
    roles = {
        "output": graph.outputs[0],
        "weights": next(name for name in compiled.addresses if name in graph.constants),
        "embedding": graph.inputs[0],
    }
    moved, onto = (roles[role] for role in place)
    addresses = compiled.addresses | {moved: compiled.addresses[onto]}
    with pytest.raises(ValueError, match="is needed after the program"):
        check_reuse(ops, graph, addresses, TINY)


def test_a_store_follows_the_loads_before_the_last_one_that_it_depends_on():
    compiled = compile_graph(encoder().graph, TINY)
    ops = [written.op for written in compiled.ops]
    order = before(ops, TINY)
    over = loads_over(ops, order)
    assert over == sorted(over)
    assert 0 < over[0] < over[-1]
    assert all(each < index for index, earlier in enumerate(order) for each in earlier)


def test_best_fit_finds_gaps():
    def life(name: str, size: int, begin: int, end: int) -> Life:
        return Life(name=name, size=size, begin=begin, end=end)

    found, peak = fit([life("a", 64, 0, 4), life("b", 128, 0, 2), life("c", 64, 2, 4)])
    assert peak == 192
    assert found["b"] <= found["c"] < found["b"] + 128
    assert fit([]) == ({}, 0)


def test_pairs_that_share_bytes():
    graph = encoder().graph
    names = [*graph.tensors][:3]
    size = graph.tensors[names[0]].bytes
    places = {names[0]: 0, names[1]: size - 1, names[2]: 10**9}
    assert list(sharing(graph, places)) == [(names[0], names[1])]


@pytest.mark.slow
@pytest.mark.parametrize("reorder", [False, True])
def test_the_rtl_computes_the_same_on_memories_that_stall_and_reorder(reorder):
    timing = MemoryTiming(latency=90, stall_percent=40, reorder=reorder, seed=3)
    case = encoder()
    compiled = compile_graph(case.graph, TINY, Reuse())
    device = open_device("verilator", TINY, timing, 1 << 20)
    check_device(case, device, compiled)
    device.close()
