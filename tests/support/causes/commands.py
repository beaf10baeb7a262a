"""Why no product is queued."""

from celosia.isa.encoding import FENCE, FLUSH, Function
from tests.support.causes.case import CONFIG, Case, latency
from tests.support.causes.parts import (
    DIM,
    FIRST,
    ONE,
    TWO,
    acc,
    chain,
    load,
    product,
    steps,
    store,
)
from tests.support.cramped import CRAMPED

__all__ = ["COMMANDS"]

COMMANDS = (
    Case(
        name="a full queue of products",
        # Of two places: each pair is over sooner in the array than its results are there.
        program=chain(lambda _: [*product(0, acc(0), 1), *product(0, acc(0), 1)]),
        config=CRAMPED,
        grows={"wait_queue_execute": 2 * DIM - 1, "array_rows": 2},
        knob=(3, 9),
    ),
    Case(
        name="a full queue of loads",
        program=lambda _: [load(TWO)] * (CONFIG.load_queue + 3) + product(0, acc(0), w=ONE),
        grows={"wait_queue_load": 1},
        knob=(60, 110),
        timing=latency,
    ),
    Case(
        name="a full queue of stores",
        program=lambda n: [
            store(TWO, n),
            *[store(TWO)] * (CONFIG.store_queue + 3),
            *product(0, acc(0), w=ONE),
        ],
        grows={"wait_queue_store": 1},
        knob=(32, 60),
    ),
    Case(
        name="a full queue of transforms",
        program=lambda n: [
            *steps(Function.MOMENTS, n, TWO, start=1),
            *steps(Function.MOMENTS, DIM, TWO, start=1)[-1:] * (CONFIG.transform_queue + 3),
            *product(0, acc(0), w=ONE),
        ],
        grows={"wait_queue_transform": 1},
        knob=(80, 160),
    ),
    Case(
        name="a fence",
        program=lambda _: [load(TWO), FENCE.encode(), *product(0, acc(0), w=ONE)],
        grows={"wait_fence": 1},
        knob=(40, 90),
        timing=latency,
    ),
    Case(
        name="commands that do nothing",
        program=lambda n: [FLUSH.encode()] * n + product(0, acc(0), w=ONE),
        grows={"wait_command": 1},
    ),
    Case(
        name="the end",
        program=lambda _: [*FIRST, store(acc(0))],
        grows={"drain": 1, "write_latency": 1},
        knob=(40, 90),
        timing=latency,
    ),
)
