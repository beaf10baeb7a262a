# amaranth: UnusedElaboratable=no

"""`celosia.isa.latencies` is what the components say of themselves, which their tests measure."""

import pytest

from celosia.hw.accelerator import Accelerator
from celosia.hw.execute.weights import WeightLoader
from celosia.hw.load.path import LoadPath
from celosia.hw.loops.repeat import Repeater
from celosia.hw.memory import read_port
from celosia.hw.store.drain import BUFFER_WORDS, Drain
from celosia.hw.store.path import StorePath
from celosia.hw.transform import writer
from celosia.hw.transform.register import StepRegister
from celosia.hw.vector.background import Background
from celosia.hw.vector.polynomial import Polynomial
from celosia.hw.vector.scaler import Scaler
from celosia.isa import latencies
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import WeightType
from tests.support.streams import send, simulate

COMPONENTS = {
    "ADDRESS_LATENCY": LoadPath.ADDRESS_LATENCY,
    "DRAIN_LATENCY": Drain.LATENCY,
    "DRAIN_WORDS": BUFFER_WORDS,
    "FACTS_CYCLES": Background.CYCLES,
    "FACTS_LATENCY": Background.LATENCY,
    "LOCAL_READ_LATENCY": read_port.LOCAL_READ_LATENCY,
    "LOOP_ISSUE_CYCLES": Repeater.ISSUE,
    "POLYNOMIAL_LATENCY": Polynomial.LATENCY,
    "ROW_LATENCY": LoadPath.ROW_LATENCY,
    "SCALER_LATENCY": Scaler.LATENCY,
    "SQUARED_FACTS_CYCLES": Background.SQUARED_CYCLES,
    "SQUARED_FACTS_LATENCY": Background.SQUARED_LATENCY,
    "STEP_LATENCY": StepRegister.LATENCY,
    "STORE_LATENCY": StorePath.LATENCY,
    "TOKEN_LATENCY": Accelerator.TOKEN_LATENCY,
    "TRANSFORM_WORDS": writer.BUFFER_WORDS,
}
NO_COMPONENT = {"MIN_PRODUCT_CYCLES", "lane_latency", "tile_cycles"}
"""The decoder takes a command every other cycle: what a run shows
(`tests/sw/planning/test_cost.py`).
The latency of the lanes depends on the step, and is tested below; so do the cycles of a tile on its
weights, of which the loader makes a slot."""


def test_every_latency_has_its_component():
    assert {*COMPONENTS} | NO_COMPONENT == {*latencies.__all__}


@pytest.mark.parametrize("name", COMPONENTS)
def test_the_component_takes_as_long(name):
    assert getattr(latencies, name) == COMPONENTS[name]


@pytest.mark.parametrize("int4_pairs", [False, True])
@pytest.mark.parametrize("weights", WeightType)
@pytest.mark.parametrize("transposed", [False, True])
def test_a_slot_of_the_loader_is_as_long(int4_pairs, weights, transposed):
    config = AcceleratorConfig(dim=8, int4_pairs=int4_pairs)
    dut, waves = WeightLoader(config), []
    tile = {"load_weights": 1, "w_rows": 8, "w_cols": 8, "w_transpose": int(transposed)}

    async def producer(ctx):
        await send(ctx, dut.i, [tile | {"w_int4": int(weights is WeightType.INT4)}])

    async def watch(ctx):
        for _ in range(40):
            waves.append(ctx.get(dut.wave))
            await ctx.tick()

    simulate(dut, producer, watch)
    # `wave` falls a cycle before the last one.
    wanted = latencies.tile_cycles(config, weights, transposed=transposed)
    assert sum(waves) + 1 == wanted


@pytest.mark.parametrize(("scalings", "parts"), [(0, 1), (1, 2), (2, 4), (2, 1)])
def test_the_lanes_take_as_long(scalings, parts):
    """In one cycle a row is sampled, in another one gathered (`tests/hw/vector/test_lanes.py`)."""
    stages = Polynomial.LATENCY + scalings * Scaler.LATENCY
    assert latencies.lane_latency(scalings, parts) == 1 + stages + parts
