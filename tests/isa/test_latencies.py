# amaranth: UnusedElaboratable=no

"""`celosia.isa.latencies` is what the components say of themselves, which their tests measure."""

import pytest

from celosia.hw.accelerator import Accelerator
from celosia.hw.load.path import LoadPath
from celosia.hw.memory import read_port
from celosia.hw.store.drain import BUFFER_WORDS, Drain
from celosia.hw.store.path import StorePath
from celosia.hw.vector.background import Background
from celosia.hw.vector.lanes import Lanes
from celosia.isa import latencies
from celosia.isa.config import AcceleratorConfig

COMPONENTS = {
    "ADDRESS_LATENCY": LoadPath.ADDRESS_LATENCY,
    "DRAIN_LATENCY": Drain.LATENCY,
    "DRAIN_WORDS": BUFFER_WORDS,
    "FACTS_CYCLES": Background.CYCLES,
    "FACTS_LATENCY": Background.LATENCY,
    "LOCAL_READ_LATENCY": read_port.LOCAL_READ_LATENCY,
    "ROW_LATENCY": LoadPath.ROW_LATENCY,
    "SQUARED_FACTS_CYCLES": Background.SQUARED_CYCLES,
    "SQUARED_FACTS_LATENCY": Background.SQUARED_LATENCY,
    "STORE_LATENCY": StorePath.LATENCY,
    "TOKEN_LATENCY": Accelerator.TOKEN_LATENCY,
}
NO_COMPONENT = {"MIN_PRODUCT_CYCLES", "lane_latency"}
"""The decoder takes a command every other cycle: what a run shows
(`tests/sw/planning/test_cost.py`).
The latency of the lanes depends on the configuration, and is tested below."""


def test_every_latency_has_its_component():
    assert {*COMPONENTS} | NO_COMPONENT == {*latencies.__all__}


@pytest.mark.parametrize("name", COMPONENTS)
def test_the_component_takes_as_long(name):
    assert getattr(latencies, name) == COMPONENTS[name]


@pytest.mark.parametrize(("lanes", "parts"), [(0, 1), (8, 2), (4, 4), (4, 1), (1, 16)])
def test_the_lanes_take_as_long(lanes, parts):
    config = AcceleratorConfig(vector_lanes=lanes)
    assert latencies.lane_latency(config, parts) == Lanes(config).latency + parts - 1
