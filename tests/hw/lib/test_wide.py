"""Sums in halves against Python's integers."""

from amaranth import Const, Module, Signal, Value, signed, unsigned
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from celosia.hw.lib.wide import wide_sum

NUMBERS = st.integers(-(1 << 20), (1 << 20) - 1)


def value_of(expression: Value) -> int:
    """What `expression`, of constants, is in a simulation."""
    m, found = Module(), Signal(len(expression))
    m.d.comb += found.eq(expression)
    simulator = Simulator(m)
    values: list[int] = []

    async def look(context):
        values.append(context.get(found))

    simulator.add_testbench(look)
    simulator.run()
    return values[0]


def constant(number: int) -> Const:
    """`number` in as many bits as it needs, signed only if it is negative."""
    bits = max(1, number.bit_length())
    return Const(number, unsigned(bits) if number >= 0 else signed(bits + 1))


@given(st.lists(NUMBERS, min_size=2, max_size=3), st.integers(2, 30), st.sampled_from((None, 0, 1)))
def test_sums_wrap(terms, bits, carry):
    enters = None if carry is None else Const(carry, 1)
    found = wide_sum(*map(constant, terms), bits=bits, carry=enters)
    assert len(found) == bits
    assert value_of(found) == (sum(terms) + (carry or 0)) % (1 << bits)
