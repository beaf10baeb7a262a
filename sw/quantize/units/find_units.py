"""Finds the units of a recognized float graph, node by node."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from celosia.isa.numerics import MAX_COLUMNS
from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.operators.table import CURVES
from celosia.sw.frontend.recognize.masks import mask_form
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.quantize.units.attention import (
    HEAD_COLUMNS,
    attention_heads,
    find_rotation,
    head_factors,
    score_bias,
)
from celosia.sw.quantize.units.joins import SHARED_STEP, find_join, settle_joins
from celosia.sw.quantize.units.operands import Operands, Refused
from celosia.sw.quantize.units.sums import (
    Context,
    Term,
    find_addition,
    find_affine,
    find_term,
    given_sums,
)
from celosia.sw.quantize.units.units import (
    Append,
    Attention,
    Finishing,
    Function,
    Normalization,
    Product,
    Rows,
    Unit,
    Units,
)
from celosia.sw.quantize.units.values import Value
from celosia.sw.quantize.units.vectors import Multiplication, Rectified, Subtraction
from celosia.sw.reference.encoder import Linear, Norm

__all__ = ["find_units"]

_LARGEST_WEIGHT: Final = 1e30
"""Weights beyond are no weights, and their steps would overflow."""
_BEHIND: Final = "it is behind"
"""Begins the reason of what has the host's operands."""


def find_units(graph: FloatGraph, apart: Collection[str] = frozenset()) -> Units:
    """All that the accelerator can compute of a graph behind `recognize`.

    The host puts the tensors in `apart` together, whatever their parts are.
    """
    found = _Finder(graph).run()
    if given := given_sums(graph, found):
        found = _Finder(graph, given).run()
    return settle_joins(graph, found, dict.fromkeys(apart, SHARED_STEP))


class _Finder:
    """Units in the order of their nodes."""

    def __init__(self, graph: FloatGraph, given: Collection[str] = frozenset()):
        self.given = given
        """Sums that are units whoever makes their terms."""
        self.reader = Reader(graph)
        self.readers = graph.readers()
        self.outputs = set(graph.outputs.values())
        self.operands = Operands(self.reader)
        self.context = Context(self.operands, self.readers, self.outputs)
        self.units: dict[str, Unit] = {}
        self.found = Units(units=self.units, values=self.operands.values, refusals={})
        self.taken: set[str] = set()

    def run(self) -> Units:
        rules: dict[str, Callable[[Node], Unit | None]] = {
            "matmul": self._product,
            "conv": self._convolution,
            "add": self._sum,
            "mul": self._of_two,
            "sub": self._of_two,
            **dict.fromkeys(CURVES, self._curve),
            "softmax": self._softmax,
            "layernorm": self._norm,
            "rmsnorm": self._norm,
            "rotate": lambda node: find_rotation(self.operands, node),
            "attention": self._attention,
            "concat": self._concatenation,
            "cache": self._append,
        }
        for node in self.reader.graph.nodes:
            if node.name in self.taken or node.op not in rules or not node.type.is_float:
                continue
            try:
                if not all(self.reader.type(name).size for name in (node.name, *node.inputs)):
                    raise Refused("it has no elements")
                unit = rules[node.op](node)
            except Refused as reason:
                self.found.refusals[node.name] = str(reason)
                continue
            if unit is not None:
                self.units[unit.value.tensor] = unit
                self.taken.update(unit.nodes)
                self.operands.made(unit.value)
        return self.found

    def _convolution(self, node: Node) -> Unit:
        if self.reader.value(node.inputs[1]) is None:
            raise Refused("its filters are not constant")
        raise Refused(f"it is a convolution of {node.attributes['groups']} groups")

    def _product(self, node: Node) -> Unit:
        x, name = node.inputs
        weights = self.reader.value(name)
        if weights is None or self.reader.value(x) is not None:
            raise Refused("its operands are computed, and it has no weights")
        if weights.ndim != 2 or self.reader.type(x).rank < 2:
            raise Refused("it is a stack of products")
        linear = Linear(
            weights.astype(np.float32, copy=False), np.zeros(weights.shape[1], np.float32)
        )
        nodes = [node]
        while (more := self._goes_on(nodes[-1], linear)) is not None:
            linear, behind = more
            nodes.append(behind)
        if not np.abs(weights).max(initial=0) < _LARGEST_WEIGHT:
            raise Refused("its weights are not finite, or too large")
        names = tuple(each.name for each in nodes)
        return Product(value=Value(names[-1]), x=self.operands.rows(x), linear=linear, nodes=names)

    def _goes_on(self, node: Node, linear: Linear) -> tuple[Linear, Node] | None:
        """The product with the bias, the factor or the factors of its only reader."""
        readers = self.readers[node.name]
        if len(readers) != 1 or node.name in self.outputs:
            return None
        (behind,) = readers
        if behind.type != node.type:
            return None
        scaled = self.reader.scaled(behind.name)
        if scaled is not None and scaled[0] == node.name:
            factor = np.float32(scaled[1])
            return Linear(linear.weights * factor, linear.bias * factor), behind
        factors = self.operands.factors(behind, linear.bias.size)
        if factors is not None:
            return Linear(linear.weights * factors, linear.bias * factors), behind
        bias = self.operands.bias(node.name, behind, linear.bias.size)
        return None if bias is None else (Linear(linear.weights, linear.bias + bias), behind)

    def _finished(self, name: str) -> Product | None:
        behind = self.operands.unit_behind(name)
        unit = None if behind is None else self.units[behind]
        return unit if isinstance(unit, Product) else None

    def _curve(self, node: Node) -> Unit:
        product = self._finished(node.inputs[0])
        alpha = node.attributes.get("alpha", 1.0)
        most = node.attributes.get("most")
        assert isinstance(alpha, float)
        assert most is None or isinstance(most, float)
        apart = product is None or not self._alone(node.inputs[0], node)
        x = self.operands.made_rows(node.inputs[0]) if apart and node.op == "relu" else None
        if x is not None and node.type.rank > 1:
            return Rectified(value=Value(node.name), x=x, most=most, nodes=(node.name,))
        if product is None:
            return self._function(node, alpha)
        return Finishing(
            value=Value(node.name),
            product=product,
            function=node.op,
            alpha=alpha,
            most=most,
            nodes=(node.name,),
        )

    def _softmax(self, node: Node) -> Unit:
        self._check_rows(node)
        return self._function(node)

    def _check_rows(self, node: Node) -> None:
        if node.attributes["axis"] not in {-1, node.type.rank - 1}:
            raise Refused(f"{node.op} is not along the last axis")
        if node.type.shape[-1] > MAX_COLUMNS:
            raise Refused(f"its rows are longer than {MAX_COLUMNS}")

    def _function(self, node: Node, alpha: float = 1.0) -> Function:
        """A function of an input; what the host or another unit makes is not int32 anywhere."""
        source, _ = self.reader.chain(node.inputs[0])
        if source not in self.reader.graph.inputs or not node.type.rank:
            raise Refused("it is not behind a product")
        if "most" in node.attributes:
            raise Refused("its upper end is not behind a product")
        return Function(
            value=Value(node.name),
            x=self.operands.rows(node.inputs[0]),
            function=node.op,
            alpha=alpha,
            nodes=(node.name,),
        )

    def _sum(self, node: Node) -> Unit:
        alike = all(self.reader.type(name) == node.type for name in node.inputs)
        for name, other in (node.inputs, node.inputs[::-1]) if alike else ():
            product = self._finished(name)
            if product is not None and name != other:
                residual = self.operands.rows(other)
                nodes = self._biased(node, product)
                product = self.units[product.value.tensor]
                assert isinstance(product, Product)
                return Finishing(
                    value=Value(nodes[-1]), product=product, residual=residual, nodes=nodes
                )
        return find_addition(self.context, node, self.given) or self._affine(node)

    def _affine(self, node: Node) -> Unit:
        found = find_affine(self.context, node)
        if found is None:
            raise self._behind(node)
        return found

    def _behind(self, node: Node) -> Refused:
        """Why a sum or a product of tensors is none: by what computes its operands."""
        computed = [name for name in node.inputs if self.reader.value(name) is None]
        sources = [self.reader.producer(self.reader.chain(name)[0]) for name in computed]
        known = [source for source in sources if source is not None]
        if any(source.name in self.taken for source in known):
            return Refused("it is not part of a product")
        for source in known:
            reason = self.found.reason(source)
            if not reason.startswith(f"{_BEHIND} "):
                article = "an" if source.op[0] in "aeiou" else "a"
                reason = f"{_BEHIND} {article} {source.op} of the host: {reason}"
            return Refused(reason)
        return Refused("its operands are inputs")

    def _biased(self, node: Node, product: Product) -> tuple[str, ...]:
        """A sum and the bias behind it, which is moved into its product if nobody else reads it."""
        tensor, zero = product.value.tensor, np.zeros_like(product.linear.bias)
        more = self._goes_on(node, Linear(product.linear.weights[:0], zero))
        alone = len(self.readers[tensor]) == 1 and tensor not in self.outputs
        if more is None or more[1].op not in {"add", "sub"} or not alone:
            return (node.name,)
        linear = Linear(product.linear.weights, product.linear.bias + more[0].bias)
        self.units[tensor] = replace(product, linear=linear)
        return node.name, more[1].name

    def _of_two(self, node: Node) -> Unit:
        if any(self.reader.type(name) != node.type for name in node.inputs) or node.type.rank < 2:
            return self._affine(node)
        find = Term if node.op == "mul" else partial(find_term, self.context, node)
        first, second = terms = tuple(map(find, node.inputs))
        made = any(self.operands.made_rows(term.name) for term in terms)
        if not made or any(self.reader.value(name) is not None for name in node.inputs):
            return self._affine(node)
        a, b = node.inputs
        if node.op == "sub":
            return Subtraction(
                value=Value(node.name),
                a=self.operands.rows(first.name),
                b=self.operands.rows(second.name),
                factors=(first.factor, second.factor),
                nodes=(*first.nodes, *second.nodes, node.name),
            )
        if self._alone(a, node) and not self._alone(b, node):
            a, b = b, a
        return Multiplication(
            value=Value(node.name),
            a=self.operands.rows(a),
            b=self.operands.rows(b),
            nodes=(node.name,),
        )

    def _alone(self, name: str, node: Node) -> bool:
        """Whether a tensor is the result of a product that only `node` reads."""
        tensor = self.operands.unit_behind(name)
        unit = None if tensor is None else self.units[tensor]
        return isinstance(unit, Product) and self.readers[unit.value.tensor] == [node]

    def _norm(self, node: Node) -> Unit:
        x, *parameters = node.inputs
        cols = node.type.shape[-1]
        self._check_rows(node)
        values = [self.reader.value(name) for name in parameters]
        vectors = [v.reshape(-1) for v in values if v is not None and v.size == cols]
        if len(vectors) != len(values):
            raise Refused("its factors are not one known number for each column")
        gamma, beta = vectors if len(vectors) == 2 else (vectors[0], np.zeros(cols))
        epsilon = node.attributes["epsilon"]
        assert isinstance(epsilon, float)
        value, parts = self._normalized(node, x)
        return Normalization(
            value=value,
            parts=parts,
            norm=Norm(gamma.astype(np.float32), beta.astype(np.float32)),
            epsilon=epsilon,
            rms=node.op == "rmsnorm",
            nodes=(node.name,),
        )

    def _normalized(self, node: Node, x: str) -> tuple[Value, tuple[Rows, ...]]:
        """The value of a norm, and its rows: those of heads by themselves, if a unit makes them."""
        cols, made = node.type.shape[-1], self.operands.made_rows(x)
        heads = node.type.rank == 4 and not cols % HEAD_COLUMNS and made is None
        found = self.operands.made_heads(x) if heads else None
        if found is None:
            value = Value(node.name)
            return value, (Rows(made or self.operands.rows(x), value.whole(node.type)),)
        value, rows = Value(node.name, heads=True), node.type.shape[2]
        out = value.whole(node.type)
        return value, tuple(
            Rows(each, out.part(row=text * rows, rows=rows, col=head * cols, cols=cols))
            for text, views in enumerate(found)
            for head, each in enumerate(views)
        )

    def _attention(self, node: Node) -> Unit:
        if "cap" in node.attributes:
            raise Refused(f"its scores come too near to {node.attributes['cap']}, their cap")
        mask = mask_form(self.reader, node)
        scale, keys = node.attributes["scale"], self.reader.type(node.inputs[1]).shape[2]
        assert isinstance(scale, float)
        causal, first = bool(node.attributes["causal"]), node.attributes["first_query"]
        assert isinstance(first, int)
        if causal and not 0 <= first < MAX_COLUMNS:
            raise Refused(f"its first query is at key {first}")
        window = node.attributes.get("window", 1)
        assert isinstance(window, int)
        if not 1 <= window <= MAX_COLUMNS:
            raise Refused(f"its window is of {window} keys, not 1 to {MAX_COLUMNS}")
        if not scale > 0:
            raise Refused(f"its scale is {scale}")
        if keys > MAX_COLUMNS:
            raise Refused(f"it has more than {MAX_COLUMNS} keys")
        value = Value(node.name, heads=True)
        onto = None if mask.bias is None else score_bias(self.operands, node, mask.bias)
        scaled = head_factors(self.reader, self.readers, self.outputs, node)
        return Attention(
            value=value,
            heads=attention_heads(self.operands, node, value.whole(node.type), onto, scaled),
            scale=scale,
            keys=mask.keys,
            nodes=(scaled[1].name, node.name) if scaled else (node.name,),
        )

    def _concatenation(self, node: Node) -> Unit | None:
        return self._texts(node) or find_join(self.operands, self.units, node)

    def _texts(self, node: Node) -> Unit | None:
        """The attention of all texts whose contexts stand below each other.

        That is a view, if nobody else reads a part, and texts differ in lengths and masks alone.
        """
        parts = [self._context(name) for name in node.inputs]
        found = [part for part in parts if part is not None]
        alike = {part.scale for part in found}
        below = node.attributes["axis"] == 0 and node.type.rank == 2
        if len(found) < len(parts) or len(alike) > 1 or not below:
            return None
        value, heads, row = Value(node.name, heads=True), [], 0
        for part in found:
            for text in part.heads:
                outs = [replace(head.out, tensor=value.key, row=row) for head in text]
                ontos = [self.operands.scores_of(head.onto, node.name) for head in text]
                places = zip(text, outs, ontos, strict=True)
                heads.append(tuple(replace(head, out=out, onto=onto) for head, out, onto in places))
                row += text[0].out.rows
            del self.units[part.value.tensor]
            self.operands.forget(part.value)
        nodes = tuple(name for part in found for name in part.nodes)
        return replace(found[0], value=value, heads=tuple(heads), nodes=(*nodes, node.name))

    def _append(self, node: Node) -> Unit:
        held, new = node.inputs
        before, first = self.units.get(held), node.attributes["first"]
        assert isinstance(first, int)
        if not isinstance(before, Append) and held not in self.reader.graph.inputs:
            raise Refused("what it appends to is computed")
        return Append(
            value=Value(node.name),
            cache=before.cache if isinstance(before, Append) else held,
            first=first,
            parts=self.operands.columns(new),
            nodes=(node.name,),
        )

    def _context(self, name: str) -> Attention | None:
        """The attention whose rows a tensor has, if no others read them and all keys count."""
        behind = self.operands.unit_behind(name)
        unit = None if behind is None else self.units[behind]
        if not isinstance(unit, Attention) or unit.keys:
            return None
        source, views = self.reader.chain(name)
        tensors = [source, *(view.name for view in views)]
        alone = all(len(self.readers[each]) == 1 for each in tensors)
        return unit if alone and self.outputs.isdisjoint(tensors) else None
