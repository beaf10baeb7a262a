"""What a step leaves in memory is compared with the integer graph, guard rows of caches too."""

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.devices.devices import open_device
from celosia.sw.decoding.comparison import Comparison, DifferenceError
from celosia.sw.decoding.steps import session_bytes
from tests.support.decoder_sessions import shared_session
from tests.support.integer_models import SHAPE, quantized

CACHE = "cache of 1.value"
WIDTH = SHAPE.layers[0].key_width


@pytest.fixture
def device():
    size = session_bytes(quantized(), 8)
    device = open_device("functional", resolve_config("tiny", ()), MemoryTiming(), size)
    yield device
    device.close()


def spoil(device, session, row):
    """Change all of a row of a cache, by numbers that are large."""
    programs = next(iter(session.steps._programs.values()))
    (segment,), (bucket,) = programs.step.model.segments, programs.buckets
    name = next(name for name, source in segment.caches.items() if source == CACHE)
    rows = bucket.compiled.graph.tensors[name].rows
    place = bucket.compiled.addresses[name] + row % rows * WIDTH
    device.write(place, bytes(each ^ 0x55 for each in device.read(place, WIDTH)))


@pytest.mark.parametrize("row", [0, 15, 16, 17, -1])
def test_a_cache_that_somebody_writes_to_is_noticed(device, row):
    session = shared_session(device, quantized(), 8)
    session.append([1, 2])
    spoil(device, session, row)
    with pytest.raises(DifferenceError, match=r"cache of 1.value: \d+ of .* behind 2 tokens"):
        session.append([3])


def test_outputs_alone_are_compared_with_the_same_text(device):
    """A guard row that nobody reads is another one; the outputs are right, and are so few."""
    every, outputs = Comparison(), Comparison(outputs=True)
    shared_session(device, quantized(), 8, every).append([1, 2])
    session = shared_session(device, quantized(), 8, outputs)
    session.append([1, 2])
    spoil(device, session, -1)
    logits, _ = session.append([3])
    assert logits.size == quantized().vocabulary
    assert outputs.elements == (2 + 1) * logits.size < every.elements
    for row in range(16, 19):
        spoil(device, session, row)
    with pytest.raises(DifferenceError, match="behind 3 tokens"):
        session.append([4])
