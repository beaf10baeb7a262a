"""Ports of components, from annotations and from constructors."""

from typing import Annotated

from amaranth import Signal, unsigned
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component


class Unit(Component):
    """A port of each form."""

    a: Signal
    b: Annotated[Signal, In(3)]
    kept: Annotated[int, "no port"]
    c: Signal

    def __init__(self, width: int):
        super().__init__({"d": In(1), "c": Out(width), "a": In(unsigned(width))})


class Wider(Unit):
    """One port more."""

    e: Annotated[Signal, Out(2)]


class Fixed(Component):
    """No constructor."""

    only: Annotated[Signal, Out(1)]


def test_ports_are_those_of_annotations_and_of_the_constructor_in_the_order_of_annotations():
    found = Unit(5)
    members = {"a": In(unsigned(5)), "b": In(3), "c": Out(5), "d": In(1)}
    assert dict(found.signature.members) == members
    assert [*found.signature.members] == [*members]
    assert len(found.c) == 5
    assert found.b.shape() == unsigned(3)
    assert not hasattr(found, "kept")


def test_ports_are_inherited():
    assert [*Wider(1).signature.members] == ["a", "b", "c", "e", "d"]
    assert [*Fixed().signature.members] == ["only"]


def test_without_ports_there_is_no_interface():
    assert not Component().signature.members
