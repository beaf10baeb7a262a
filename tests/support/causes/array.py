"""What the array waits for, and what it does."""

from collections.abc import Callable

from celosia.isa.address import GARBAGE
from celosia.isa.encoding import FENCE, Function
from celosia.isa.registers.events import function_counter
from tests.support.causes.case import Case, Program
from tests.support.causes.parts import (
    DIM,
    FAR,
    FIRST,
    ONE,
    READ_ONLY,
    STAGED,
    THREE,
    TWO,
    acc,
    chain,
    product,
    steps,
    store,
)

__all__ = ["ARRAY"]


def waits_for_function(function: Function) -> Callable[[int], Program]:
    """A product that reads what a transform writes, or writes what it reads."""

    def program(count: int) -> Program:
        source = THREE if function in STAGED else acc(0)
        work = steps(function, count, source, TWO, rows={"residual": ONE}, start=1)
        if function in READ_ONLY:
            return work + product(0, source, w=ONE)
        return work + product(TWO, acc(256), w=ONE)

    return program


WAITS: dict[Function, float] = dict.fromkeys(
    (Function.GELU, Function.SILU, Function.HARDSWISH), 25 / 12
)
"""Cycles for each row where not 1: two turns of the scaler, and one more for a word in twelve."""

ARRAY = (
    Case(
        name="rows",
        program=lambda n: product(0, acc(0), n, w=ONE),
        grows={"array_rows": 1, "read_none": 1, "write_none": 1, "vector_none": 1},
    ),
    Case(
        name="padding",
        program=lambda n: product(0, acc(0), n, w=ONE, a_rows=DIM),
        grows={"array_padding": 1},
    ),
    Case(
        name="weights",
        program=lambda n: product(0, acc(0), 80, w=ONE) + product(0, GARBAGE, 0, w=TWO) * n,
        grows={"array_weights": DIM},
        knob=(3, 12),
    ),
    Case(
        name="d",
        program=lambda n: product(0, acc(0), n, w=ONE, d=TWO),
        grows={"array_d": 1, "array_rows": 1},
    ),
    Case(
        name="weights in A's bank",
        program=lambda n: product(0, acc(0), 80, w=ONE) + product(0, acc(0), 8, w=FAR) * n,
        grows={"wait_bank_weights": DIM, "array_rows": 8},
        knob=(3, 12),
    ),
    Case(
        name="results in A's bank",
        # Only results that are still in the array when the next product begins.
        program=lambda n: FIRST + product(0, TWO, n) + product(TWO + FAR, acc(0), 80),
        grows={"wait_bank_results": 1},
        knob=(2, 9),
    ),
    Case(
        name="issue",
        program=chain(lambda _: [*product(0, acc(0), w=ONE), FENCE.encode()]),
        grows={"wait_issue": 5},
        knob=(4, 14),
    ),
    Case(
        name="an accumulator that is stored",
        program=lambda n: [store(acc(0), n), *product(0, acc(0), n, w=ONE)],
        grows={"wait_accumulator": 1},
    ),
    Case(
        name="a product's result",
        program=chain(lambda i: product(TWO + 8 * i, TWO + 8 * (i + 1))),
        grows={"wait_execute_execute": 2 * DIM + 1},
        knob=(3, 9),
    ),
    Case(
        name="rows that are stored",
        program=lambda n: [store(TWO, n), *product(0, TWO, n, w=ONE)],
        grows={"wait_execute_store": 1},
    ),
    *(
        Case(
            name=function.name.lower(),
            program=waits_for_function(function),
            grows={
                function_counter("wait", function): WAITS.get(function, 1),
                function_counter("vector", function): 1,
            },
            knob=(96, 192),
        )
        for function in Function
    ),
)
