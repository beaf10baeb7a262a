"""What the accelerator computes of a float graph: products, their finishes, norms, attention.

A unit computes one *value*: a tensor of the float graph as a matrix.  Its operands are rectangles
of values, those of other units or of the host.  Nothing here knows integers.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal, TypeVar

from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import Array, TensorType
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.ir.graph import Mask, View
from celosia.sw.reference.encoder import Linear, Norm

__all__ = [
    "Append",
    "Attention",
    "Finishing",
    "Form",
    "Function",
    "Head",
    "Multiplication",
    "Normalization",
    "Product",
    "Role",
    "Rotation",
    "Rows",
    "Subtraction",
    "Turn",
    "Unit",
    "Units",
    "Value",
]


_Kind = TypeVar("_Kind", bound="Unit")


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
    copies: int = 1
    """For what is added to scores: so many heads have the one that is in the tensor."""
    scores: str = ""
    """The attention to whose scores it is added: it has their steps."""

    @property
    def key(self) -> str:
        """What views call it."""
        if self.scores:
            return f"{self.tensor} for the scores of {self.scores}"
        return f"{self.tensor} by heads" if self.heads else self.tensor

    def matrix(self, array: Array) -> Array:
        """The tensor as the matrix."""
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

    @abstractmethod
    def reads(self) -> Iterator[Form]:
        """The forms that it reads, but for the sums of a finish."""

    def makes(self, wanted: set[Role]) -> set[Role]:
        """The roles of `wanted` in which it makes its value."""
        return wanted & self.ABLE


@dataclass(frozen=True, eq=False, kw_only=True)
class Product(AnyUnit):
    """``x @ weights + bias``."""

    value: Value
    x: View
    linear: Linear
    nodes: tuple[str, ...]
    ABLE = frozenset(("wide", "small", "heads", "sums"))

    def reads(self) -> Iterator[Form]:
        """Its operand."""
        yield Form(self.x.tensor, "small")


@dataclass(frozen=True, eq=False, kw_only=True)
class Finishing(AnyUnit):
    """A curve of a product, or a product and another value added."""

    value: Value
    product: Product
    function: str | None = None
    """A curve of the float graph; None: the `residual` is added."""
    alpha: float = 1.0
    """For `silu`: how much steeper than usual its sigmoid is."""
    residual: View | None = None
    nodes: tuple[str, ...]

    def reads(self) -> Iterator[Form]:
        """The other term."""
        if self.residual is not None:
            yield Form(self.residual.tensor, "wide")

    def makes(self, wanted: set[Role]) -> set[Role]:
        """Sums are int16."""
        return wanted & ({"wide", "small"} if self.residual is None else {"wide"})


@dataclass(frozen=True)
class Rows:
    """Rows that are normalized."""

    x: View
    out: View


@dataclass(frozen=True, eq=False, kw_only=True)
class Normalization(AnyUnit):
    """Rows, normalized."""

    value: Value
    parts: tuple[Rows, ...]
    """All rows of the value, or those of each head of each text; operands are of one value."""
    norm: Norm
    epsilon: float
    rms: bool
    nodes: tuple[str, ...]

    @property
    def x(self) -> View:
        """The operand, or its first part."""
        return self.parts[0].x

    def reads(self) -> Iterator[Form]:
        """Its rows."""
        yield Form(self.x.tensor, "wide")


@dataclass(frozen=True)
class Head:
    """One head of attention over one text."""

    query: View
    key: View
    value: View
    out: View
    onto: View | None = None
    """What is added to its scores; a single row is added to all of them."""
    first_row: int | None = None
    """The position of the first query, which sees so many keys before its own; None: queries see
    all keys."""

    @property
    def mask(self) -> Mask:
        """The columns that count, if all keys do."""
        if self.first_row is None or self.first_row + 1 >= self.key.rows:
            return Mask()
        return Mask(causal=True, first_row=self.first_row)


@dataclass(frozen=True, eq=False, kw_only=True)
class Attention(AnyUnit):
    """Softmax of scores times values, head by head."""

    value: Value
    heads: tuple[tuple[Head, ...], ...]
    """The heads of each text."""
    scale: float
    keys: str | None
    """The tensor that says how many keys each text has; None: all of them."""
    nodes: tuple[str, ...]

    def reads(self) -> Iterator[Form]:
        """The operands of its heads, and what is added to their scores."""
        heads = [head for text in self.heads for head in text]
        views = [view for head in heads for view in (head.query, head.key, head.value)]
        yield from (Form(view.tensor, "heads") for view in views)
        yield from (Form(head.onto.tensor, "onto") for head in heads if head.onto)

    def makes(self, wanted: set[Role]) -> set[Role]:
        """One form, for products if any reads it."""
        return wanted & ({"small"} if "small" in wanted else {"wide"})


@dataclass(frozen=True, eq=False, kw_only=True)
class Multiplication(AnyUnit):
    """Two values, element by element: a gate, and what it lets through."""

    value: Value
    a: View
    b: View
    """If one of them is the result of a product that nobody else reads, it is this one."""
    nodes: tuple[str, ...]

    def reads(self) -> Iterator[Form]:
        """Both factors."""
        yield Form(self.a.tensor, "wide")
        yield Form(self.b.tensor, "wide")


@dataclass(frozen=True, eq=False, kw_only=True)
class Subtraction(AnyUnit):
    """One value less another, element by element."""

    value: Value
    a: View
    b: View
    nodes: tuple[str, ...]
    ABLE = frozenset(("wide",))

    def reads(self) -> Iterator[Form]:
        """Both terms."""
        yield Form(self.a.tensor, "wide")
        yield Form(self.b.tensor, "wide")


@dataclass(frozen=True)
class Turn:
    """One head of one text, whose halves are turned."""

    x: View
    table: View
    """Cosines in its first half, sines in its second one."""
    out: View


@dataclass(frozen=True, eq=False, kw_only=True)
class Rotation(AnyUnit):
    """Rotary embeddings, head by head."""

    value: Value
    turns: tuple[Turn, ...]
    nodes: tuple[str, ...]
    ABLE = frozenset(("wide", "heads"))

    def reads(self) -> Iterator[Form]:
        """Rows, and their angles."""
        for turn in self.turns:
            yield Form(turn.x.tensor, "wide")
            yield Form(turn.table.tensor, "angles")


@dataclass(frozen=True, eq=False, kw_only=True)
class Function(AnyUnit):
    """A function of what the user gives, which nothing multiplies before."""

    value: Value
    x: View
    function: str
    """`softmax` of rows, or a curve of the float graph."""
    alpha: float = 1.0
    """For `silu`: how much steeper than usual its sigmoid is."""
    nodes: tuple[str, ...]
    ABLE = frozenset(("wide",))

    def reads(self) -> Iterator[Form]:
        """What the user gives."""
        yield Form(self.x.tensor, "sums")


@dataclass(frozen=True, eq=False, kw_only=True)
class Append(AnyUnit):
    """Rows that are written to a cache, where attention reads them: nothing is computed."""

    value: Value
    """The cache behind it."""
    cache: str
    """The input of the graph whose memory it is."""
    first: int
    """The row of the cache that the first one becomes."""
    parts: tuple[View, ...]
    """What is appended: rectangles of one value, beside each other."""
    nodes: tuple[str, ...]

    def reads(self) -> Iterator[Form]:
        """The rows."""
        yield Form(self.parts[0].tensor, "heads")

    def makes(self, wanted: set[Role]) -> set[Role]:
        """What attention reads."""
        return {"heads"}


Unit = (
    Product
    | Finishing
    | Normalization
    | Attention
    | Multiplication
    | Subtraction
    | Rotation
    | Function
    | Append
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Units:
    """The units of a graph, and the reasons of what is none."""

    units: dict[str, Unit]
    """In an order in which they can be computed, by the tensors that they compute."""
    values: dict[str, Value]
    """Every value that a unit computes or reads, by its key."""
    refusals: dict[str, str]
    """Why a node that looks like a unit is none."""

    def reason(self, node: Node) -> str:
        """Why the host computes a node that no unit stands for."""
        if not node.type.is_float:
            return f"its elements are {node.type.dtype}"
        lacking = f"the accelerator has no {node.op}"
        return self.refusals.get(node.name) or OPERATORS[node.op].host or lacking

    def of(self, kind: type[_Kind]) -> list[_Kind]:
        """The units of a kind."""
        return [unit for unit in self.units.values() if isinstance(unit, kind)]

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes that units stand for."""
        return frozenset(name for unit in self.units.values() for name in unit.nodes)
