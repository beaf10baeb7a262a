"""Components whose ports stand once, if their shape is always the same."""

from inspect import get_annotations
from typing import Any

from amaranth.lib import wiring
from amaranth.lib.wiring import Member

__all__ = ["Component"]


class Component(wiring.Component):
    """A component whose annotations have its ports, as far as no parameter is in them.

    ``valid: Annotated[Signal, In(1)]`` is a port.  The annotation of a port whose shape depends on
    a parameter is its type alone: its member is given to the constructor.  Ports are in the order
    of annotations.

    Parameters
    ----------
    members : mapping of str to :class:`amaranth.lib.wiring.Member`
        Ports that depend on parameters, by their names.
    """

    def __init__(self, members: dict[str, Member] | None = None):
        given = members or {}
        ports: dict[str, Member] = {}
        for base in reversed(type(self).__mro__):
            for name, hint in get_annotations(base).items():
                marks = getattr(hint, "__metadata__", (given.get(name),))
                ports.update((name, mark) for mark in marks if type(mark) is Member)
        # In Verilog, ports are from where a unit is made; stubs do not know the argument.
        place: dict[str, Any] = {"src_loc_at": 1}
        super().__init__(ports | given, **place)
