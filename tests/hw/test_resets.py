"""How many flip-flops a reset sets, unit by unit: those of control, and none of data.

A flip-flop with a reset is larger than one without, and only what is looked at before it was
written needs one.  A new register of control adds its bits to a number here; one of data says
`reset_less`.
"""

from typing import Final

import pytest

from celosia.hw.accelerator import Accelerator
from celosia.hw.host.axi_top import AxiTop
from celosia.hw.host.board.setup import BoardSetup
from celosia.hw.host.board.top import BoardTop
from celosia.isa.presets import resolve_config
from tests.support.registers import reset_bits

CELOSIA: Final = resolve_config("tiny", ["vector_lanes=2", "scale_bits=8"])
"""With a normalization unit that takes rows in parts."""
GEMMINI: Final = resolve_config("gemmini4")
"""With all of Gemmini's."""
PLAIN: Final = resolve_config("tiny", ["normalization=false"])
"""With little of either."""

ACCELERATORS: Final = {
    "celosia": (
        CELOSIA,
        {
            "loops": 114, "decoder": 1227, "issue": 4187, "load": 184, "execute": 113,
            "store": 250, "scratchpad": 4, "accumulator": 4, "parameters": 3, "tokens": 97,
            "transform": 677, "owners": 0, "": 113,
        },
    ),
    "gemmini": (
        GEMMINI,
        {
            "loops": 739, "decoder": 925, "issue": 2808, "load": 184, "execute": 120,
            "store": 1451, "scratchpad": 3, "accumulator": 3, "parameters": 1, "tokens": 97,
            "owners": 0, "": 113,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCELERATORS)
def test_what_a_reset_sets_in_the_accelerator(name):
    config, bits = ACCELERATORS[name]
    assert reset_bits(Accelerator(config)) == bits


def test_what_a_reset_sets_around_the_accelerator():
    """In the ring of commands, in registers and arbiters."""
    bits = reset_bits(AxiTop(CELOSIA))
    assert bits.pop("accelerator") == sum(ACCELERATORS["celosia"][1].values())
    assert bits == {
        "ring_fetcher": 132, "read_arbiter": 2, "counters": 462, "registers": 587,
        "ring_pointers": 259, "supervisor": 6, "": 3,
    }  # fmt: skip


def test_what_a_reset_sets_around_all_that_on_a_board():
    """In the line's ends, and where memory keeps in mind what it was asked for."""
    setup = BoardSetup(clock_hz=8_000_000, baud=1_000_000, memory_bytes=128 << 10)
    bits = reset_bits(BoardTop(PLAIN, setup))
    del bits["axi"]
    assert bits == {
        "receiver": 17, "reader": 121, "bridge": 74, "writer": 37, "transmitter": 17, "lite": 3,
        "memory": 24, "": 0,
    }  # fmt: skip
