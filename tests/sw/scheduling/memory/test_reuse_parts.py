"""Lives and accesses of tensors, to the byte and to the store."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.memory import ALIGNMENT
from celosia.isa.presets import resolve_config
from celosia.sw.ir.graph import Graph, Tensor, View
from celosia.sw.ir.program import Load, LocalRows, Op, Space, Store
from celosia.sw.scheduling.memory.check_reuse import check_reuse
from celosia.sw.scheduling.memory.lives import Life, largest_live_sum
from celosia.sw.scheduling.memory.order import Access, stored_and_loaded

TINY = resolve_config("tiny")
ROWS = LocalRows(Space.SCRATCHPAD, 0, 1, 1, 1)


def life(name: str, size: int, begin: int, end: int) -> Life:
    return Life(name=name, size=size, begin=begin, end=end)


def store(name: str) -> Store:
    return Store(View(name, 0, 0, 1, 4), ROWS)


def load(name: str) -> Load:
    return Load(View(name, 0, 0, 1, 4), ROWS, 0)


@pytest.mark.parametrize("gap", [-1, 0, 1])
def test_lives_meet_if_one_begins_before_the_other_ends(gap):
    one, other = life("one", 64, 2, 5), life("other", 64, 5 + gap, 9)
    assert one.meets(other) == other.meets(one) == (gap < 0)


def small_graph(sizes: dict[str, int], **more: tuple[str, ...]) -> Graph:
    tensors = {name: Tensor(name, "int8", 1, size) for name, size in sizes.items()}
    return Graph(name="small", tensors=tensors, **{"inputs": (), "outputs": (), "ops": (), **more})


@pytest.mark.parametrize(
    ("names", "most"),
    [
        ("Aa", 64),
        ("AaBb", 128),  # One after the other: the larger.
        ("ABab", 192),
        ("AaAaBb", 128),
        ("AaBabC", 192),
        ("AaBbCc", 192),
        ("ABCabc", 384),
        ("ABaCbc", 320),  # When C begins, a is over in the operation before.
        ("AaB", 128),
        ("b", 128),
        ("", 0),
    ],
)
def test_the_bytes_that_live_at_once_are_those_between_first_and_last_access(names, most):
    """Capitals are stores: each operation has a cycle of its own, and its tensor's bytes in it."""
    graph = small_graph({"a": 64, "b": 128, "c": 192})
    ops = [store(name.lower()) if name.isupper() else load(name) for name in names]
    assert largest_live_sum(ops, graph, [*graph.tensors.values()]) == most


def test_what_is_given_lives_from_the_start_and_what_stays_is_not_counted():
    ops: list[Op] = [store("b"), load("b"), load("a"), store("c"), load("d")]
    tensors = {"a": 60, "b": 128, "c": 1024, "d": 2048}
    graph = small_graph(tensors, inputs=("a",), outputs=("c",))
    graph = replace(graph, constants={"d": np.zeros((1, 2048), np.int8)})
    assert largest_live_sum(ops, graph, [*graph.tensors.values()]) == 64 + 128


def test_accesses_are_numbered_among_loads_and_among_stores():
    ops: list[Op] = [load("a"), store("b"), load("b"), store("a")]
    assert [*stored_and_loaded(ops)] == [
        Access(index, number, op.view, isinstance(op, Store))
        for index, (number, op) in enumerate(zip([1, 1, 2, 2], ops, strict=True))
        if isinstance(op, Load | Store)
    ]


@pytest.mark.parametrize(
    ("names", "older", "newer", "stores"),
    [
        ("aba", "a", "b", (3, 2)),
        ("bab", "b", "a", (3, 2)),
        ("abba", "a", "b", (4, 2)),
        ("aabba", "a", "b", (5, 3)),
        ("ab", None, None, None),
        ("aabb", None, None, None),
        ("bbaa", None, None, None),
    ],
)
def test_the_older_of_two_is_the_one_that_is_stored_first(names, older, newer, stores):
    graph = Graph(
        name="two",
        tensors={name: Tensor(name, "int8", 1, 4) for name in "ab"},
        inputs=(),
        outputs=(),
        ops=(),
    )
    ops = [store(name) for name in names]
    check_reuse(ops, graph, {"a": 0, "b": ALIGNMENT}, TINY)
    if older is None:
        check_reuse(ops, graph, {"a": 0, "b": 0}, TINY)
        return
    late, first = stores
    message = f"{older} and {newer} share bytes, but store {late} of {older} .* store {first}$"
    with pytest.raises(ValueError, match=message):
        check_reuse(ops, graph, {"a": 0, "b": 0}, TINY)


@pytest.mark.parametrize("cache", ["a", "b"])
def test_a_cache_shares_bytes_with_nobody_though_it_is_neither_result_nor_constant(cache):
    """What a step appends is read by later steps, and what was there by this one."""
    graph = small_graph({"a": 4, "b": 4})
    kept = replace(graph.tensors[cache], cache=True)
    ops: list[Op] = [store("a"), store("b")]
    addresses = {"a": 0, "b": 0}
    check_reuse(ops, graph, addresses, TINY)
    graph = replace(graph, tensors={**graph.tensors, cache: kept})
    with pytest.raises(ValueError, match="a and b share bytes, but a is needed after the program"):
        check_reuse(ops, graph, addresses, TINY)


@pytest.mark.parametrize("source", [1, 2, 3])
def test_a_store_over_what_is_loaded_waits_for_the_last_load_of_it(source):
    """Loads end in their order, so that it is enough to depend on the last one, or a later one."""
    rows = [LocalRows(Space.SCRATCHPAD, row, 1, 1, 1) for row in range(4)]
    a, b = (View(name, 0, 0, 1, 4) for name in "ab")
    ops: list[Op] = [Store(a, rows[0]), *(Load(a, rows[each], 1) for each in (1, 2))]
    ops += [Load(View("c", 0, 0, 1, 4), rows[3], 0), Store(b, rows[source])]
    graph, addresses = small_graph({"a": 4, "b": 4, "c": 4}), {"a": 0, "b": 0, "c": ALIGNMENT}
    if source > 1:
        check_reuse(ops, graph, addresses, TINY)
        return
    with pytest.raises(ValueError, match="nothing lets store 2 of b wait for load 2 of a"):
        check_reuse(ops, graph, addresses, TINY)


@pytest.mark.parametrize("stored", ["", "a", "b", "ab"])
def test_two_inputs_share_no_bytes_whatever_a_program_stores(stored):
    graph = small_graph({"a": 4, "b": 4}, inputs=("a", "b"))
    with pytest.raises(ValueError, match="share bytes, but b has its values before the program"):
        check_reuse([store(name) for name in stored], graph, {"a": 0, "b": 0}, TINY)
