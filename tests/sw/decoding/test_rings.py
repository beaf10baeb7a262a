"""Which caches are rings, and how large they are."""

import pytest

from celosia.sw.decoding.rings import Ring, rings_of
from celosia.sw.decoding.texts import GUARD_ROWS, CacheLayout
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType


@pytest.mark.parametrize(
    ("window", "capacity", "size"),
    [
        (1, 500, 64),
        (48, 500, 64),
        (49, 500, 128),
        (48, 64 + 2 * GUARD_ROWS - 1, None),
        (4000, 5000, 4032),
        (4096, 9000, None),
    ],
)
def test_a_ring_holds_a_window_and_a_step(window, capacity, size):
    assert CacheLayout(1, capacity, 64).ring(window) == size
    assert CacheLayout(1, capacity).ring(window) is None


def attentions(*windows, shared=False):
    """A graph of attentions to windows, of keys of their own or of shared ones."""
    build = GraphBuilder("windows")
    kind = TensorType("float32", (1, 1, 8, 16))
    common = build.input("common", kind)
    outputs = {}
    for number, window in enumerate(windows):
        query, value = (build.input(f"{name}{number}", kind) for name in ("query", "value"))
        key = common if shared else build.op("neg", query, name=f"key{number}")
        flat = build.op("reshape", key, shape=(1, 8, 16))
        key = build.op("reshape", flat, shape=kind.shape)
        given = {} if window is None else {"window": window}
        attributes = {"scale": 1.0, "causal": True, "first_query": 0} | given
        outputs[f"out{number}"] = build.op("attention", query, key, value, **attributes)
    return build.finish(outputs)


def test_a_ring_is_of_what_views_of_it_are_read_by_a_window():
    found = rings_of(attentions(20, None, 60), CacheLayout(1, 500, 64))
    small, large = Ring(20, 64), Ring(60, 128)
    assert found == {"key0": small, "value0": small, "key2": large, "value2": large}
    assert (small.slack, large.slack) == (44, 68)


def test_keys_that_attentions_to_other_windows_read_are_in_no_ring():
    layout = CacheLayout(1, 500, 64)
    assert rings_of(attentions(20, 60, shared=True), layout) == {}
    assert rings_of(attentions(20, 20, shared=True), layout)
    assert rings_of(attentions(20), CacheLayout(1, 500)) == {}


def test_keys_with_a_bias_are_in_no_ring():
    """A bias is of the places of keys, which a ring changes."""
    build = GraphBuilder("biased")
    kind = TensorType("float32", (1, 1, 8, 16))
    query, key, value = (build.input(name, kind) for name in ("query", "key", "value"))
    bias = build.input("bias", TensorType("float32", (1, 1, 8, 8)))
    attributes = {"scale": 1.0, "causal": True, "first_query": 0, "window": 20}
    out = build.op("attention", query, key, value, bias, **attributes)
    assert rings_of(build.finish({"out": out}), CacheLayout(1, 500, 64)) == {}
