"""Heads of ONNX models: the matrices that make queries, keys and values, and the one behind them.

What has heads is told by attention that is recognized.  The file's own nodes between the products
are found by walking back from the product that reads all heads; those that stand for sizes get
smaller ones.  Whether a narrower file is what it should be is a question that its numbers answer
(`lab/prune/files/narrower.py`), so nothing here needs to know how an exporter writes attention.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto

from celosia.lab.prune.files.index import BY_COLUMN, PRODUCTS, Cut, Index
from celosia.lab.prune.files.sizes import SmallerSizes
from celosia.sw.frontend.importer.source.scope import node_label
from celosia.sw.frontend.nn.graph import FloatGraph

__all__ = ["LAYOUTS", "Attention", "Heads", "Layout", "attentions", "find_heads", "keep_heads"]

Layout = Literal["beside", "interleaved"]
LAYOUTS: Final[tuple[Layout, ...]] = ("beside", "interleaved")
"""How queries, keys and values share a matrix: all of each beside each other, or by head."""

_ATTENTION: Final = frozenset({"Attention", "MultiHeadAttention", "GroupQueryAttention"})
_OWN_MATRIX: Final = "com.microsoft"
"""The domain of an Attention that has its projections in it."""


class NoHeadsError(ValueError):
    """What a product reads is no heads, or they cannot be followed."""


@dataclass(frozen=True)
class Attention:
    """The sizes of one."""

    heads: int
    groups: int
    """How many have keys of their own."""
    width: int
    """Columns of a head."""

    @property
    def together(self) -> int:
        """How many heads share keys."""
        return self.heads // self.groups


@dataclass(frozen=True, eq=False)
class _Maker:
    """A matrix that makes columns of heads, with vectors that go with its columns."""

    cuts: Sequence[Cut]
    units: int
    """Its columns, in heads."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Heads:
    """The heads that one product reads."""

    name: str
    """The node that reads them, as messages call it."""
    source: str
    """The tensor that it reads: (..., heads x width)."""
    sizes: Attention
    makers: Sequence[_Maker]
    value: _Maker
    """The one that makes values."""
    reader: Cut
    bias: Cut | None
    """What is added to what the reader gives, if that is one vector."""
    nodes: Sequence[NodeProto]
    """All between the makers and the reader."""

    @property
    def width(self) -> int:
        """Columns of all heads."""
        return self.sizes.heads * self.sizes.width

    @property
    def tensors(self) -> frozenset[str]:
        """All on the way: what the file says of their types is true no more."""
        inside = {name for node in self.nodes for name in (*node.input, *node.output)}
        return frozenset({self.source, *inside})

    @property
    def merged(self) -> bool:
        """Whether two of queries, keys and values share a matrix."""
        return len(self.makers) < len("qkv")

    def units(self, maker: _Maker, groups: NDArray[np.intp], layout: Layout) -> NDArray[np.intp]:
        """What stays of a maker's columns, in heads, if these groups stay."""
        together, count = self.sizes.together, self.sizes.groups
        each = {
            "q": (groups[:, None] * together + np.arange(together)).ravel(),
            "k": groups,
            "v": groups,
        }
        widths = {"q": together, "k": 1, "v": 1}
        names = self._parts(maker)
        if layout == "beside":
            first = np.cumsum([0, *(widths[name] * count for name in names)])
            return np.concatenate([first[i] + each[name] for i, name in enumerate(names)])
        whole = sum(widths[name] for name in names)
        return (groups[:, None] * whole + np.arange(whole)).ravel()

    def value_norms(self, layout: Layout) -> NDArray[np.float32]:
        """The norms of what makes each column that is read: (heads x width,)."""
        sizes, maker = self.sizes, self.value
        matrix, *_ = maker.cuts
        norms = np.linalg.norm(matrix.values, axis=1 - matrix.axis).reshape(-1, sizes.width)
        each = maker.units // sizes.groups
        beside = layout == "beside"
        values = norms[-sizes.groups :] if beside else norms[each - 1 :: each]
        return np.repeat(values, sizes.together, axis=0).ravel().astype(np.float32)

    def _parts(self, maker: _Maker) -> str:
        """What a maker makes: queries, keys, values."""
        if not self.merged:
            return "k" if maker.units == self.sizes.groups else "q"
        if len(self.makers) == 1:
            return "qkv"
        return "kv" if maker is self.value else "q"


def attentions(graph: FloatGraph) -> list[Attention]:
    """The sizes of all attention that was recognized, in order."""
    types = {node.name: node.type for node in graph.nodes} | dict(graph.inputs)
    found = []
    for node in graph.nodes:
        if node.op == "attention":
            query, key = (types[name].shape for name in node.inputs[:2])
            if query[-1] == node.type.shape[-1]:
                found.append(Attention(query[1], key[1], query[-1]))
    return found


def find_heads(graph: GraphProto, known: Sequence[Attention]) -> tuple[list[Heads], dict[str, str]]:
    """The heads of a graph whose attention has the `known` sizes, and why others cannot go."""
    index, found, reasons = Index(graph), [], {}
    for node in graph.node:
        factors = index.factors(node) if node.op_type in PRODUCTS else None
        if factors is None:
            continue
        reader, results = factors
        width = int(reader.tensor.dims[reader.axis])
        sizes = dict.fromkeys(each for each in known if each.heads * each.width == width)
        walk = _Walk(index, node.input[0])
        if not walk.attends:
            continue
        try:
            if len(sizes) != 1:
                raise NoHeadsError(f"{width} columns are the heads of no one attention")
            (only,) = sizes
            makers, value = walk.makers(only)
            bias = index.bias(node, int(results.tensor.dims[results.axis]))
            found.append(
                Heads(
                    name=node_label(node),
                    source=node.input[0],
                    sizes=only,
                    makers=makers,
                    value=value,
                    reader=reader,
                    bias=bias,
                    nodes=walk.inside,
                )
            )
        except NoHeadsError as reason:
            reasons[node_label(node)] = str(reason)
    return found, reasons


def keep_heads(
    graph: GraphProto,
    groups: Mapping[str, NDArray[np.intp]],
    heads: Sequence[Heads],
    layout: Layout,
) -> None:
    """Leave these groups of heads, by the name of what reads them."""
    sizes = SmallerSizes(graph, Index(graph))
    for each in heads:
        kept, old = groups[each.name], each.sizes
        for maker in each.makers:
            columns = _columns(each.units(maker, kept, layout), old.width)
            for cut in maker.cuts:
                cut.keep(columns)
        each.reader.keep(_columns(kept, old.width * old.together))
        units = {old.heads, old.groups, 2 * old.groups, old.heads + old.groups}
        units.add(old.heads + 2 * old.groups)
        counts = {unit: unit * len(kept) // old.groups for unit in units}
        wide = {unit * old.width: count * old.width for unit, count in counts.items()}
        plain = {unit: counts[unit] for unit in (old.heads, old.groups, old.heads + 2 * old.groups)}
        sizes.change(each.nodes, plain, wide)
    sizes.finish()


def _columns(units: NDArray[np.intp], width: int) -> NDArray[np.intp]:
    return (units[:, None] * width + np.arange(width)).ravel()


class _Walk:
    """All between a product's operand and the products that it comes from."""

    def __init__(self, index: Index, source: str):
        self.index, self.source = index, source
        self.products: dict[str, NodeProto] = {}
        """The products where the walk ends, by their results."""
        self.attends = False
        """Whether there is a softmax on the way."""
        self.inside: list[NodeProto] = []
        """What depends on a product."""
        met = self._behind(source, scores=True)
        known = {name for node in self.products.values() for name in node.output}
        for node in index.made.values():
            if node.output[0] in met and known & set(node.input) and node not in self.inside:
                self.inside.append(node)
                known |= set(node.output)
        self.inside += [each for each in self.products.values() if each.op_type == "Attention"]

    def _behind(self, source: str, *, scores: bool) -> set[str]:
        """Walk back to products; without `scores`, only to those that make values."""
        met, left = set[str](), [source]
        self.products = {}
        while left:
            node = self.index.made.get(left.pop())
            if node is None or node.op_type == "Shape" or not node.output or node.output[0] in met:
                continue
            name = node.output[0]
            fused = node.op_type in _ATTENTION
            self.attends |= fused or node.op_type == "Softmax"
            if self._projects(node) is not None:
                self.products[name] = node
                continue
            met.add(name)
            if scores or not (fused or node.op_type == "Softmax"):
                left += node.input
            elif fused:
                left.append(node.input[2])
        return met

    def _projects(self, node: NodeProto) -> Cut | None:
        """The matrix of a product, or of an Attention with one, by its outputs."""
        if node.op_type == "Attention" and node.domain == _OWN_MATRIX:
            return self.index.matrix(node.input[1], 1)
        factors = self.index.factors(node)
        return None if factors is None else factors[1]

    def makers(self, sizes: Attention) -> tuple[list[_Maker], _Maker]:
        """The matrices of queries, keys and values; and that of values.  Raises `NoHeadsError`."""
        self._alone()
        found = {name: self._maker(node, sizes) for name, node in self.products.items()}
        units = sorted(each.units for each in found.values())
        heads, groups = sizes.heads, sizes.groups
        if units not in (
            [heads + 2 * groups],
            sorted([heads, 2 * groups]),
            [groups, groups, heads],
        ):
            raise NoHeadsError(f"it reads what {len(units)} products make")
        self._behind(self.source, scores=False)
        if len(self.products) != 1:
            raise NoHeadsError("what makes its values is not one product")
        (value,) = self.products
        return list(found.values()), found[value]

    def _maker(self, node: NodeProto, sizes: Attention) -> _Maker:
        matrix = self._projects(node)
        assert matrix is not None
        width = int(matrix.tensor.dims[matrix.axis])
        vectors = [self.index.vector(each, width) for each in node.input[2:3] if each]
        name = node.output[0]
        while len(readers := [each for each in self.inside if name in each.input]) == 1:
            (after,) = readers
            if after.op_type not in BY_COLUMN:
                break
            vectors += [self.index.vector(each, width) for each in after.input if each != name]
            name = after.output[0]
        cuts = [matrix, *(each for each in vectors if each is not None)]
        return _Maker(cuts, width // sizes.width)

    def _alone(self) -> None:
        """Raise `NoHeadsError` if somebody else reads what is on the way."""
        counts = Counter(name for node in self.inside for name in node.input)
        counts[self.source] += 1
        for name in self._made():
            if counts[name] != self.index.reads[name]:
                raise NoHeadsError(f"{name} is read by others, too")

    def _made(self) -> Iterator[str]:
        for node in [*self.products.values(), *self.inside]:
            yield from (name for name in node.output if name)
