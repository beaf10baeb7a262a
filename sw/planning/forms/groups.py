"""Operators of a graph that are computed together: a head's two products, a sum and its norm."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from celosia.sw.ir.causal import keys_seen
from celosia.sw.ir.graph import (
    AddResidual,
    DeferredSoftmax,
    DivideBySums,
    Graph,
    LayerNorm,
    MatMul,
    Op,
    Transform,
    View,
)

__all__ = ["Group", "Head", "Heads", "Linear", "fuses", "groups", "head_of", "members", "on_chip"]


@dataclass(frozen=True)
class Head:
    """Two products: numerators of softmax from scores, and the context that they weight."""

    scores: MatMul
    context: MatMul

    @property
    def softmax(self) -> DeferredSoftmax:
        """The finish of the scores."""
        assert isinstance(self.scores.finish, DeferredSoftmax)
        return self.scores.finish

    @property
    def division(self) -> DivideBySums:
        """The finish of the context."""
        assert isinstance(self.context.finish, DivideBySums)
        return self.context.finish

    def most_scores(self, rows: tuple[int, ...], keys: tuple[int, ...], dim: int) -> int:
        """Rows of the accumulator that scores of a part take, at most, if it is cut like this.

        A block has those of the keys that it sees.
        """
        seen = (
            (size, keys_seen(self.scores, row, size, dim))
            for row, size in zip(accumulate(rows, initial=0), rows, strict=False)
        )
        return max(size * -(-min(max(keys), end - first) // dim) for size, (first, end) in seen)

    def reads(self, others: Iterable["Head"]) -> bool:
        """Whether it takes what one of the `others` computes: then it comes after it."""
        views = [*self.scores.operands, *self.context.operands]
        return any(view.meets(other.context.out) for other in others for view in views)


@dataclass(frozen=True)
class Heads:
    """Heads of attention that follow each other, none of which reads what another computes."""

    heads: tuple[Head, ...]


@dataclass(frozen=True)
class Linear:
    """Sums, and the normalization of what they become, if it is computed together with them."""

    op: MatMul | Transform
    norm: LayerNorm | None


Group = Heads | Linear | Op
"""What is computed together: an operator alone, if it is none of sums."""


def groups(graph: Graph, *, fused_norms: bool) -> Iterator[Group]:
    """The operators of `graph` in order, those together that are computed together.

    Moments are counted as a product's results leave if `fused_norms`.
    Raises `ValueError` that names the operator if numerators and sums of softmax are not those of
    one product right behind them.
    """
    readers = _Readers(graph)
    heads: list[Head] = []
    index = 0
    while index < len(graph.ops):
        op = graph.ops[index]
        behind = graph.ops[index + 1] if index + 1 < len(graph.ops) else None
        alone = behind is not None and readers.only(op, behind)
        head = head_of(op, behind if alone else None)
        if heads and (head is None or head.reads(heads)):
            yield Heads(tuple(heads))
            heads = []
        if head is not None:
            heads.append(head)
            index += 2
        elif not isinstance(op, MatMul | Transform):
            yield op
            index += 1
        else:
            # Where norms come first, what is normalized is also what the next sum is added to.
            norm = None
            if fused_norms and isinstance(behind, LayerNorm) and fuses(op, behind):
                norm = behind
            yield Linear(op, norm)
            index += 1 if norm is None else 2
    if heads:
        yield Heads(tuple(heads))


def members(group: Group) -> tuple[Op, ...]:
    """The operators of a group, in order."""
    match group:
        case Heads(heads):
            return tuple(op for head in heads for op in (head.scores, head.context))
        case Linear(op, norm):
            return (op,) if norm is None else (op, norm)
        case _:
            return (group,)


def head_of(op: Op, behind: Op | None) -> Head | None:
    """The head that begins with `op`, if one does.  `behind` alone reads what `op` writes."""
    finish = getattr(op, "finish", None)
    if isinstance(finish, DivideBySums):
        raise ValueError(f"{op}: its sums are not those of the operator before it")
    if not isinstance(finish, DeferredSoftmax):
        return None
    if (
        isinstance(op, MatMul)
        and isinstance(behind, MatMul)
        and isinstance(behind.finish, DivideBySums)
        and behind.finish.sums == finish.sums
        and behind.a == op.out
    ):
        return Head(op, behind)
    raise ValueError(f"{op}: numerators and sums are not those of one product right behind it")


def on_chip(graph: Graph) -> frozenset[str]:
    """The tensors of `graph` that no legal plan stores: numerators of heads, and their sums."""
    scores = (op for op in graph.ops if isinstance(getattr(op, "finish", None), DeferredSoftmax))
    return frozenset(view.tensor for op in scores for view in op.results)


def fuses(op: MatMul | Transform, norm: LayerNorm) -> bool:
    """Whether moments for `norm` may be counted while its source is computed."""
    return isinstance(op.finish, AddResidual) and norm.source == op.out


class _Readers:
    """The operators that read each part of a tensor."""

    def __init__(self, graph: Graph):
        self._outputs = graph.outputs
        self._of: dict[str, list[tuple[View, str]]] = {}
        for op in graph.ops:
            for view in op.operands:
                self._of.setdefault(view.tensor, []).append((view, op.name))

    def only(self, op: Op, reader: Op) -> bool:
        """Whether nobody but `reader` reads what `op` writes."""
        return all(
            view.tensor not in self._outputs
            and {name for other, name in self._of.get(view.tensor, ()) if view.meets(other)}
            <= {reader.name}
            for view in op.results
        )
