"""What the vector unit waits for."""

from celosia.isa.encoding import FENCE, ElementType, Function
from tests.support.causes.banks import crowded
from tests.support.causes.case import Case
from tests.support.causes.parts import DIM, FAR, ONE, TWO, acc, product, steps, zeros
from tests.support.transforms import transform

__all__ = ["VECTORS"]

VECTORS = (
    *crowded("a transform", "vector", steps(Function.MOMENTS, 200, TWO + FAR, start=1)),
    Case(
        name="a transform in the bank of its results",
        program=lambda n: steps(Function.RESIDUAL, n, acc(0), TWO, rows={"residual": TWO + FAR}),
        grows={"vector_residual": 1, "vector_bank_words": 16 / 15},
        knob=(120, 240),
    ),
    Case(
        name="a transform of a bank that adds a load",
        program=lambda n: [
            *steps(Function.MAXIMUM, 200, acc(0), start=1),
            zeros(acc(250 - n, accumulate=True), n),
        ],
        grows={"vector_bank_load": 1},
    ),
    Case(
        name="results of several rows",
        program=lambda n: steps(Function.REQUANTIZE, n, acc(0), TWO, type=ElementType.INT16),
        grows={"vector_requantize": 1, "vector_words": 1},
        knob=(80, 160),
    ),
    Case(
        name="results without room",
        program=lambda n: [
            *product(TWO + FAR, acc(256), 100 + n, w=ONE),
            *steps(Function.REQUANTIZE, 80, acc(0), TWO),
        ],
        grows={"vector_room": 1},
        knob=(20, 60),
    ),
    Case(
        name="statistics",
        program=lambda n: [
            *transform(Function.SUM, shape=(n, DIM), source=acc(0), start=1, finish=1),
            *transform(Function.CONTEXT, shape=(n, DIM), source=acc(0), target=TWO),
        ],
        grows={"vector_order": 14},
        knob=(4, 10),
    ),
    Case(
        name="the stages of transforms",
        program=lambda n: (
            [
                *steps(Function.MOMENTS, DIM, TWO, start=1),
                FENCE.encode(),
            ]
            * n
        ),
        grows={"vector_stages": 46},
        knob=(3, 8),
    ),
    Case(
        name="a transform of what an array makes",
        program=lambda n: [
            *product(0, acc(0), n, w=ONE),
            *steps(Function.MAXIMUM, DIM, acc(0), start=1),
        ],
        grows={"vector_wait_execute": 1},
    ),
)
