"""Units that compute element by element what no product finishes, in int16."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.sw.ir.graph import View
from celosia.sw.quantize.units.values import AnyUnit, Form, Role, Value

__all__ = ["Addition", "Affine", "Multiplication", "Rectified", "Subtraction", "Vector"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Multiplication(AnyUnit):
    """Two values, element by element: a gate, and what it lets through."""

    value: Value
    a: View
    b: View
    """If one of them is the result of a product that nobody else reads, it is this one."""
    nodes: tuple[str, ...]
    JOINED = frozenset(("wide",))

    def reads(self) -> Iterator[Form]:
        """Both factors."""
        yield Form(self.a.tensor, "wide")
        yield Form(self.b.tensor, "wide")


class _OfInt16(AnyUnit):
    """A unit whose value is int16, of which int8 is made."""

    JOINED = frozenset(("wide",))

    def makes(self, wanted: set[Role]) -> set[Role]:
        """Its value is int16, and int8 of that where products read it."""
        return {"wide", *(wanted & self.ABLE)}


@dataclass(frozen=True, eq=False, kw_only=True)
class Subtraction(_OfInt16):
    """One value less another, element by element."""

    value: Value
    a: View
    b: View
    nodes: tuple[str, ...]
    factors: tuple[float, float] = (1.0, 1.0)
    """What the terms are multiplied with."""
    SIGN: ClassVar[int] = -1
    """The sign of the second term."""

    def reads(self) -> Iterator[Form]:
        """Both terms."""
        yield Form(self.a.tensor, "wide")
        yield Form(self.b.tensor, "wide")


@dataclass(frozen=True, eq=False, kw_only=True)
class Addition(Subtraction):
    """One value and another, element by element, where neither is a product that it finishes.

    The second one may have fewer rows: they are added to each text of the first.
    """

    SIGN = 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Affine(_OfInt16):
    """Columns times known factors, and known numbers added to them; not those of a product."""

    value: Value
    x: View
    factors: NDArray[np.float32] | None
    addends: NDArray[np.float32] | None
    nodes: tuple[str, ...]

    def reads(self) -> Iterator[Form]:
        """Its operand."""
        yield Form(self.x.tensor, "wide")


@dataclass(frozen=True, eq=False, kw_only=True)
class Rectified(_OfInt16):
    """What is above zero, as behind a sum that a ReLU follows, and nothing of the rest."""

    value: Value
    x: View
    most: float | None = None
    """Where it ends, which is the end of a range of its own."""
    nodes: tuple[str, ...]

    def reads(self) -> Iterator[Form]:
        """Its operand."""
        yield Form(self.x.tensor, "wide")


Vector = Multiplication | Subtraction | Addition | Affine | Rectified
