"""What the load path does and waits for."""

from celosia.isa.encoding import CONFIG_TOKEN, Function
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
    wide_loads,
    zeros,
)

__all__ = ["READS"]

READS = (
    Case(
        name="the latency of memory",
        program=lambda _: [load(TWO), *product(TWO, acc(0), w=ONE)],
        grows={"wait_load_latency": 1, "read_latency": 1},
        knob=(40, 90),
        timing=latency,
    ),
    Case(
        name="beats",
        program=lambda n: [
            wide_loads(),
            load(TWO, n, BLOCKS * DIM),
            *product(TWO, acc(0), w=ONE),
        ],
        grows={"wait_load_bandwidth": BLOCKS, "read_data": BLOCKS},
        knob=(1, 4),
    ),
    Case(
        name="the bandwidth of memory",
        program=lambda n: [
            wide_loads(),
            load(TWO, n, BLOCKS * DIM),
            *product(TWO, acc(0), w=ONE),
        ],
        grows={
            "wait_load_bandwidth": 2 * BLOCKS,
            "read_data": BLOCKS,
            "read_bandwidth": BLOCKS,
        },
        knob=(1, 4),
        timing=half_rate,
    ),
    Case(
        name="requests in flight",
        program=lambda _: [
            load(TWO, CONFIG.read_requests + 16),
            *product(TWO, acc(0), w=ONE),
        ],
        grows={"wait_load_requests": 1, "read_requests": 1, "read_latency": 1},
        knob=(100, 150),
        timing=latency,
    ),
    Case(
        name="stages",
        program=lambda n: [zeros(TWO, n), *product(TWO, acc(0), w=ONE)],
        grows={"wait_load_stages": 1, "read_stages": 1},
    ),
    Case(
        name="a token",
        program=lambda _: [
            CONFIG_TOKEN.encode(signal=1, signal_id=3, wait=1, wait_id=3, count=1),
            store(TWO),
            load(TWO),
            *product(TWO, acc(0), w=ONE),
        ],
        grows={"wait_token": 1, "read_token": 1, "write_latency": 1, "wait_load_latency": 1},
        knob=(40, 90),
        timing=latency,
    ),
    Case(
        name="a load that overwrites A",
        program=lambda n: [*product(0, acc(0), n, w=ONE), zeros(0, n)],
        grows={"read_wait_execute": 1},
    ),
    *crowded("a load", "read", [zeros(TWO + FAR, 200)]),
    Case(
        name="a load in a bank that is transformed",
        program=lambda n: [
            *steps(Function.MOMENTS, n, TWO, start=1),
            load(TWO + FAR),
            *product(TWO + FAR, acc(0), w=ONE),
        ],
        grows={"wait_bank_transform": 1, "read_bank_transform": 1},
        knob=(80, 160),
    ),
    Case(
        name="a load in a bank that is stored",
        program=lambda n: [
            store(TWO, n),
            load(TWO + FAR),
            *product(TWO + FAR, acc(0), w=ONE),
        ],
        grows={"wait_bank_store": 1, "read_bank_store": 1},
        knob=(32, 60),
    ),
)
