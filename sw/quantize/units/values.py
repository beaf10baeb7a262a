"""Values: tensors as matrices, the roles in which they become integers, and what computes them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal

from celosia.sw.frontend.nn.operators.operator import Array, TensorType
from celosia.sw.ir.graph import View

__all__ = ["AnyUnit", "Form", "Role", "Value"]

Role = Literal["wide", "small", "heads", "sums", "angles", "onto"]
"""int16 with one step; 8 bits for a product; int8 for scores and what they weigh; int32 sums; int16
for cosines and sines; int32 for what is added to scores."""


@dataclass(frozen=True, slots=True)
class Form:
    """A value in a role."""

    key: str
    """The value's."""
    role: Role


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of the float graph as a matrix, a row for each token."""

    tensor: str
    heads: bool = False
    """The tensor is (batch, heads, rows, columns): heads stand beside each other in a row."""
    rows: bool = False
    """The tensor is (batch, rows, heads, columns): heads stand beside each other as well."""
    copies: int = 1
    """For what is added to scores: so many heads have the one that is in the tensor."""
    scores: str = ""
    """The attention to whose scores it is added: it has their steps."""

    @property
    def key(self) -> str:
        """What views call it."""
        if self.scores:
            return f"{self.tensor} for the scores of {self.scores}"
        how = " by heads" if self.heads else " by rows" if self.rows else ""
        return f"{self.tensor}{how}"

    def matrix(self, array: Array) -> Array:
        """The tensor as the matrix."""
        if self.rows:
            return array.reshape(self.shape(TensorType.of(array)))
        if not self.heads:
            return array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
        batch, heads, rows, cols = _four(array.shape)
        array = array.reshape(batch, heads, rows, cols).repeat(self.copies, axis=1)
        return array.transpose(0, 2, 1, 3).reshape(batch * rows, heads * self.copies * cols)

    def tensor_of(self, matrix: Array, kind: TensorType) -> Array:
        """The matrix as the tensor, which is of type `kind`."""
        if not self.heads:
            return matrix.reshape(kind.shape)
        assert self.copies == 1, "only attention reads copies"
        batch, heads, rows, cols = _four(kind.shape)
        array = matrix.reshape(batch, rows, heads, cols).transpose(0, 2, 1, 3)
        return array.reshape(kind.shape)

    def shape(self, kind: TensorType) -> tuple[int, int]:
        """Rows and columns of the matrix of a tensor of type `kind`."""
        cols = kind.shape[-1] if kind.shape else 1
        if self.heads:
            batch, heads, rows, cols = _four(kind.shape)
            return batch * rows, heads * self.copies * cols
        if self.rows:
            batch, rows, heads, cols = kind.shape
            return batch * rows, heads * cols
        return prod(kind.shape) // cols if cols else 0, cols

    def whole(self, kind: TensorType) -> View:
        """All of the matrix of a tensor of type `kind`."""
        return View(self.key, 0, 0, *self.shape(kind))


def _four(shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """A shape with first axes of 1, so that there are four."""
    batch, heads, rows, cols = (1,) * (4 - len(shape)) + shape
    return batch, heads, rows, cols


class AnyUnit(ABC):
    """What the accelerator computes: a frozen dataclass, which says what it reads and makes."""

    value: Value
    nodes: tuple[str, ...]
    """The nodes of the float graph that it stands for."""
    ABLE: ClassVar[frozenset[Role]] = frozenset(("wide", "small"))
    """The roles in which it can make its value."""
    JOINED: ClassVar[frozenset[Role]] = frozenset()
    """The roles in which it can make its value as a part of another one."""

    @abstractmethod
    def reads(self) -> Iterator[Form]:
        """The forms that it reads, but for the sums of a finish."""

    def makes(self, wanted: set[Role]) -> set[Role]:
        """The roles of `wanted` in which it makes its value."""
        return wanted & self.ABLE
