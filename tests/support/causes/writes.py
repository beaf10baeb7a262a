"""What the store path does and waits for."""

from celosia.isa.encoding import CONFIG_LD, CONFIG_ST, FENCE, Function
from tests.support.causes.banks import crowded
from tests.support.causes.case import CONFIG, Case, half_rate, latency
from tests.support.causes.parts import (
    BLOCKS,
    DIM,
    FAR,
    ONE,
    TWO,
    acc,
    load,
    product,
    steps,
    store,
    zeros,
)

__all__ = ["WRITES"]

WRITES = (
    Case(
        name="beats that leave",
        program=lambda n: [
            CONFIG_ST.encode(stride=BLOCKS * DIM),
            store(TWO, n, BLOCKS * DIM),
        ],
        grows={"write_data": BLOCKS},
        knob=(1, 4),
    ),
    Case(
        name="the bandwidth of writes",
        program=lambda n: [
            CONFIG_ST.encode(stride=BLOCKS * DIM),
            store(TWO, n, BLOCKS * DIM),
        ],
        grows={"write_data": BLOCKS, "write_bandwidth": BLOCKS},
        knob=(1, 4),
        timing=half_rate,
    ),
    Case(
        name="writes in flight",
        program=lambda _: [store(TWO, CONFIG.write_requests + 16)],
        grows={"write_requests": 1, "write_latency": 1},
        knob=(100, 150),
        timing=latency,
    ),
    Case(
        name="the stages of stores",
        program=lambda n: [store(TWO, 1), FENCE.encode()] * n,
        grows={"write_stages": 21},
        knob=(3, 8),
    ),
    *crowded("a store", "write", [store(TWO + FAR, 60)], results=(20, 40), weights=(5, 10)),
    Case(
        name="a store in a bank that is transformed",
        program=lambda n: [*steps(Function.MOMENTS, n, TWO, start=1), store(TWO + FAR, 60)],
        grows={"write_bank_transform": 1},
        knob=(80, 160),
    ),
    Case(
        name="a store from a bank that adds a load",
        program=lambda n: [
            CONFIG_LD.encode(shrunk=1),
            zeros(acc(0, accumulate=True), n),
            store(acc(128), 60),
        ],
        grows={"write_bank_load": 1},
        knob=(40, 80),
    ),
    Case(
        name="a store of what is loaded",
        program=lambda _: [load(TWO), store(TWO)],
        grows={"write_wait_load": 1},
        knob=(40, 90),
        timing=latency,
    ),
    Case(
        name="a store of results",
        program=lambda n: [*product(0, acc(0), n, w=ONE), store(acc(0))],
        grows={"write_wait_execute": 1},
    ),
    Case(
        name="a store of what is transformed",
        program=lambda n: [*steps(Function.REQUANTIZE, n, acc(0), TWO), store(TWO, n)],
        grows={"write_wait_transform": 1},
        knob=(80, 160),
    ),
)
