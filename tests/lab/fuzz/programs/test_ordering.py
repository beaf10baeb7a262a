"""`Ordering`: which accesses a FENCE or a token must stand between."""

from dataclasses import replace

from celosia.isa.address import LocalAddress
from celosia.isa.encoding.tokens import TokenWait
from celosia.isa.operations.operations import LoadParameters, Store
from celosia.lab.fuzz.programs.ordering import Ordering

LOAD = LoadParameters(address=0, row=0, count=1)


def store(signal: int | None = None) -> Store:
    return Store(
        address=0,
        stride=0,
        local=LocalAddress(row=0),
        rows=1,
        cols=4,
        pitch=4,
        scale=0,
        relu=False,
        bias_row=None,
        signal=signal,
    )


def waiting(token: int, count: int) -> LoadParameters:
    return replace(LOAD, wait=TokenWait(token, count))


def stored() -> Ordering:
    """Three stores of ten bytes; the last two add to token 2 and 3."""
    ordering = Ordering()
    for index, signal in enumerate((None, 2, 3)):
        ordering.add(store(signal), (10 * index, 10 * index + 9))
    return ordering


def test_bytes_that_meet_need_a_fence_unless_both_are_stored():
    ordering = stored()
    assert ordering.needs_fence(LOAD, 9, 12)
    assert not ordering.needs_fence(LOAD, 30, 40)
    assert not ordering.needs_fence(store(), 0, 40)
    ordering.add(LOAD, (50, 60))
    assert ordering.needs_fence(store(), 60, 61)
    assert not ordering.needs_fence(LOAD, 60, 61)


def test_a_token_orders_its_store_and_those_before_it():
    ordering = stored()
    assert not ordering.needs_fence(waiting(2, 1), 0, 19)
    assert ordering.needs_fence(waiting(2, 1), 19, 20)
    assert ordering.needs_fence(waiting(2, 0), 0, 0)


def test_later_loads_are_ordered_with_the_one_that_waited():
    ordering = stored()
    ordering.add(waiting(2, 1), None)
    assert not ordering.needs_fence(LOAD, 0, 19)
    assert ordering.needs_fence(LOAD, 20, 20)


def test_the_first_token_that_orders_is_found():
    ordering = stored()
    assert ordering.wait_for(LOAD, 5, 5) == TokenWait(2, 1)
    assert ordering.wait_for(LOAD, 5, 25) == TokenWait(3, 1)
    assert ordering.wait_for(store(), 5, 5) is None
    ordering.add(store(), (90, 99))
    assert ordering.wait_for(LOAD, 95, 95) is None


def test_only_what_was_counted_is_reached():
    ordering = stored()
    assert ordering.reached(None)
    assert ordering.reached(TokenWait(2, 1))
    assert not ordering.reached(TokenWait(2, 2))
    ordering.fence()
    assert not ordering.reached(TokenWait(2, 1))
    assert not ordering.needs_fence(LOAD, 0, 99)
