"""What the library refuses names the command that a loop stands for."""

import pytest

from celosia.isa.encoding import (
    FLUSH,
    MVIN,
    REPEAT,
    STRIDE,
    TRANSFORM,
)
from celosia.isa.encoding.gemmini_loops import LOOP_WS
from celosia.isa.memory import MEMORY_BASE
from tests.support.c_host import c_host

ACCUMULATOR = 1 << 31
DRAWN, OF_EACH = 20_000, 4
MOVE = MVIN.encode(dram=MEMORY_BASE, local=0, local_rows=1, local_cols=1)
WALK = TRANSFORM.encode(local=ACCUMULATOR, local_rows=1, local_cols=1)


@pytest.mark.parametrize(
    ("program", "number", "what"),
    [
        ([MOVE, STRIDE.encode()], 1, "LOOP: "),
        ([REPEAT.encode(count=0, length=1), MOVE], 0, "LOOP: "),
        ([REPEAT.encode(count=2, length=2), MOVE, REPEAT.encode(count=1, length=1)], 1, "LOOP: "),
        ([REPEAT.encode(count=9, length=2), MOVE, WALK], 1, "LOCAL_RANGE"),
        ([REPEAT.encode(count=3, length=1), LOOP_WS.encode()], 0, "UNKNOWN_FUNCT"),
    ],
    ids=["stride", "count", "nested", "a rule", "another loop"],
)
def test_a_loop_that_is_wrong_names_what_came_out_of_it(program, number, what):
    walk = TRANSFORM.encode(local=ACCUMULATOR + (1 << 20), local_rows=1, local_cols=1)
    told = c_host().refusal([walk if each == WALK else each for each in program])
    assert f"celosia: {what}" in told
    assert f"\n  command {number}: " in told
    assert "(not remembered)" not in told


def test_a_body_that_does_not_end():
    told = c_host().refusal([FLUSH.encode(), REPEAT.encode(count=2, length=3), MOVE])
    assert told.startswith("celosia: 2 commands of the body are missing: repeat count=2 length=3\n")
