"""What the accelerator computes of a float graph: products, their finishes, norms, attention.

A unit computes one *value*: a tensor of the float graph as a matrix.  Its operands are rectangles
of values, those of other units or of the host.  Nothing here knows integers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.ir.graph import Mask, View
from celosia.sw.quantize.units.values import AnyUnit, Form, Role, Value
from celosia.sw.quantize.units.vectors import Vector
from celosia.sw.reference.encoder import Linear, Norm

__all__ = [
    "Append",
    "Attention",
    "Finishing",
    "Function",
    "Head",
    "Join",
    "Normalization",
    "Product",
    "Rotation",
    "Rows",
    "Turn",
    "Unit",
    "Units",
]


_Kind = TypeVar("_Kind", bound="Unit")


@dataclass(frozen=True, eq=False, kw_only=True)
class Product(AnyUnit):
    """``x @ weights + bias``."""

    value: Value
    x: View
    linear: Linear
    nodes: tuple[str, ...]
    wide: bool = False
    """Its operand is int16, which it multiplies as two bytes."""
    ABLE = frozenset(("wide", "small", "heads", "sums"))
    JOINED = frozenset(("wide", "small"))

    def reads(self) -> Iterator[Form]:
        """Its operand."""
        yield Form(self.x.tensor, "wide" if self.wide else "small")


@dataclass(frozen=True, eq=False, kw_only=True)
class Finishing(AnyUnit):
    """A curve of a product, or a product and another value added."""

    value: Value
    product: Product
    function: str | None = None
    """A curve of the float graph; None: the `residual` is added."""
    alpha: float = 1.0
    """For `silu`: how much steeper than usual its sigmoid is."""
    most: float | None = None
    """For `relu`: where it ends, which is the end of a range of its own."""
    residual: View | None = None
    nodes: tuple[str, ...]
    JOINED = frozenset(("wide", "small"))

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
    JOINED = frozenset(("wide", "small"))

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
    window: int | None = None
    """How many of these keys are seen, the last ones; None: all."""
    ring: int | None = None
    """The places of the ring that keys are in, of which one has that of the first row; None: keys
    are in their order."""
    factor: float = 1.0
    """What its scores are multiplied with, beside the scale of all heads."""

    @property
    def mask(self) -> Mask:
        """The columns that count, if all keys do."""
        if self.first_row is None:
            return Mask()
        if self.ring is not None:
            return Mask(None, True, self.first_row, self.window, self.ring)
        passes = self.window is not None and self.window < self.first_row + self.query.rows
        window = self.window if passes else None
        if window is None and self.first_row + 1 >= self.key.rows:
            return Mask()
        return Mask(causal=True, first_row=self.first_row, window=window)


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

    def scale_of(self, head: Head) -> float:
        """What products of queries and keys are multiplied with in a head's scores."""
        return self.scale * head.factor

    def makes(self, wanted: set[Role]) -> set[Role]:
        """One form, for products if any reads it."""
        return wanted & ({"small"} if "small" in wanted else {"wide"})


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Join(AnyUnit):
    """Values beside or below each other: nothing is computed, the parts are written there."""

    value: Value
    parts: Mapping[str, View]
    """Where each part is, by the tensor that its unit computes."""
    able: frozenset[Role]
    """The roles in which all parts can be written."""
    nodes: tuple[str, ...]

    def reads(self) -> Iterator[Form]:
        """Nothing in a role of its own: parts are made in the roles that its readers need."""
        yield from ()

    def makes(self, wanted: set[Role]) -> set[Role]:
        """What all parts can be."""
        return wanted & self.able


Unit = (
    Product | Finishing | Normalization | Attention | Vector | Rotation | Function | Append | Join
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
