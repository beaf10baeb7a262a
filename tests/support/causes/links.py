"""What the array waits for over a load or a transform that waits itself."""

from celosia.isa.encoding import Function
from tests.support.causes.case import Case, latency
from tests.support.causes.parts import (
    DIM,
    ONE,
    THREE,
    TWO,
    acc,
    chain,
    load,
    product,
    steps,
    store,
    zeros,
)

__all__ = ["LINKS"]

LINKS = (
    Case(
        name="a load that overwrites results",
        program=chain(lambda _: [*product(0, acc(0), w=ONE), zeros(acc(0), 1)]),
        grows={"wait_load_execute": 2 * DIM + 2},
        knob=(3, 9),
    ),
    Case(
        name="a load that overwrites what is stored",
        program=lambda n: [store(TWO, n), zeros(TWO, n), *product(TWO, acc(0), w=ONE)],
        grows={"wait_load_store": 1, "read_wait_store": 1},
    ),
    Case(
        name="a load that overwrites what is transformed",
        program=lambda n: [
            *steps(Function.MOMENTS, n, TWO, start=1),
            zeros(TWO, n),
            *product(TWO, acc(0), w=ONE),
        ],
        grows={"wait_load_transform": 1, "read_wait_transform": 1},
        knob=(80, 160),
    ),
    Case(
        name="a transform of what is loaded",
        program=lambda _: [
            load(TWO),
            *steps(Function.LAYERNORM, DIM, TWO, THREE),
            *product(THREE, acc(0), w=ONE),
        ],
        grows={"wait_transform_load": 1, "vector_wait_load": 1, "read_latency": 1},
        knob=(40, 90),
        timing=latency,
    ),
    Case(
        name="a transform of results",
        program=chain(
            lambda _: [
                *product(TWO, acc(0), w=ONE),
                *steps(Function.REQUANTIZE, DIM, acc(0), TWO),
            ]
        ),
        grows={"wait_transform_execute": 9},
        knob=(3, 9),
    ),
    Case(
        name="a transform that overwrites what is stored",
        program=lambda n: [
            store(TWO, n),
            *steps(Function.REQUANTIZE, DIM, acc(0), TWO + n - DIM),
            *product(TWO + n - DIM, acc(256), w=ONE),
        ],
        grows={"wait_transform_store": 1, "vector_wait_store": 1},
    ),
)
