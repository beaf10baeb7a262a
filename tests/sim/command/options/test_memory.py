"""Memory faults and stalls as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.memory import MemoryFault
from celosia.sim.command.options.memory import parse_fault, parse_stalls
from celosia.sim.support.problems import InputError


@given(
    way=st.sampled_from(["read", "write"]),
    place=st.integers(0, (1 << 64) - 1),
    by_number=st.booleans(),
    response=st.sampled_from(["slverr", "decerr"]),
)
def test_text_and_fault_convert_into_each_other(**fields):
    fault = MemoryFault(**fields)
    assert parse_fault(str(fault)) == fault


def test_addresses_may_be_decimal():
    assert parse_fault("read:4096:slverr").place == 4096


@pytest.mark.parametrize(
    "text", ["", "read", "read:0x:slverr", "reads:1:slverr", "read:#0x1 :slverr", "read:-1:slverr"]
)
def test_other_text_is_refused(text):
    with pytest.raises(InputError, match="--mem-fault"):
        parse_fault(text)


def test_the_last_stall_of_a_channel_counts():
    assert parse_stalls(["r=5", "aw=95", "r=6"]) == (("r", 6), ("aw", 95))


@pytest.mark.parametrize("text", ["", "r", "r=", "x=5", "r=96", "r=-1", "r=5=6"])
def test_other_stalls_are_refused(text):
    with pytest.raises(InputError, match="--mem-channel-stall"):
        parse_stalls([text])
