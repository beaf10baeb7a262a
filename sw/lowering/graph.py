"""A graph's program: which operators are written together, and in which order."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import (
    Combine,
    DeferredSoftmax,
    DivideBySums,
    Graph,
    LayerNorm,
    MatMul,
    Op,
    Tensor,
    Transform,
    View,
    operands,
    results,
)
from celosia.sw.lowering.attention import AttentionWriter, Head
from celosia.sw.lowering.choices import DEFAULT, Choices
from celosia.sw.lowering.head_places import HeadShape
from celosia.sw.lowering.linear import LinearWriter
from celosia.sw.lowering.norm import affine_name, affine_row
from celosia.sw.lowering.places import Places
from celosia.sw.lowering.writer import ProgramWriter, Written

__all__ = ["LoweredGraph", "head_shapes", "lower_graph", "with_affines"]


@dataclass(frozen=True, eq=False)
class LoweredGraph:
    """A program, and the graph that it computes."""

    graph: Graph
    """The graph with the constants that the program needs beside those of the graph that was
    lowered."""
    ops: tuple[Written, ...]
    on_chip: frozenset[str]
    """Tensors that never are in memory."""


@dataclass(frozen=True)
class _Heads:
    """Heads of attention that follow each other."""

    heads: list[Head]

    @property
    def on_chip(self) -> Iterator[str]:
        """Tensors that are never stored."""
        for head in self.heads:
            yield head.scores.out.tensor
            yield head.softmax.sums.tensor


@dataclass(frozen=True)
class _Linear:
    """Sums, and the normalization that takes them from the scratchpad, if there is one."""

    op: MatMul | Transform
    norm: LayerNorm | None


def lower_graph(
    graph: Graph, config: AcceleratorConfig, choices: Choices = DEFAULT
) -> LoweredGraph:
    """The program of a verified `graph`, lowered as `choices` say.

    Raises `ValueError` that names the operator for what the accelerator cannot do.
    """
    if not config.normalization:
        raise ValueError("normalization: this accelerator has no unit for transforms")
    _check_parameters(graph)
    graph = with_affines(graph, config.dim)
    writer = ProgramWriter(config, graph.tensors)
    places = Places(config, choices)
    linear, attention = LinearWriter(writer, places), AttentionWriter(writer, places)
    on_chip: set[str] = set()
    for group in _groups(graph, linear):
        try:
            match group:
                case _Heads(heads):
                    attention.write(heads)
                    on_chip.update(group.on_chip)
                case _Linear(op, norm):
                    writer.operator = op.name
                    linear.write(op, norm, last=(norm or op) is graph.ops[-1])
                case LayerNorm():
                    writer.agenda.write_all()
                    writer.operator = group.name
                    linear.normalizer.from_memory(group)
                case Combine():
                    raise AssertionError(f"{group}: combinations are lowered by plan")
        except ValueError as error:
            raise ValueError(f"{writer.operator}: {error}") from None
    return LoweredGraph(graph, writer.finish(), frozenset(on_chip))


def _check_parameters(graph: Graph) -> None:
    """Parameters are loaded whenever there is room for them: so nothing computes them."""
    for op in graph.ops:
        if isinstance(op, LayerNorm):
            given = set(graph.constants)
            views = [view for output in op.outputs for view in (output.gamma, output.beta)]
        elif isinstance(op, Combine):
            continue
        else:
            given = {*graph.constants, *graph.inputs}
            views = [] if op.bias is None else [op.bias]
        for view in views:
            if view.tensor not in given:
                raise ValueError(f"{op.name}: {view} is no constant")


def _groups(graph: Graph, linear: LinearWriter) -> Iterator[_Heads | _Linear | LayerNorm | Combine]:
    """The operators of `graph` in order, those together that are written together."""
    readers = _Readers(graph)
    heads: list[Head] = []
    index = 0
    while index < len(graph.ops):
        op = graph.ops[index]
        behind = graph.ops[index + 1] if index + 1 < len(graph.ops) else None
        alone = behind is not None and readers.only(op, behind)
        if head := _head(op, behind if alone else None):
            if heads and head.reads(heads):
                yield _Heads(heads)
                heads = []
            heads.append(head)
            index += 2
            continue
        if heads:
            yield _Heads(heads)
            heads = []
        index += 1
        if isinstance(op, LayerNorm | Combine):
            yield op
        elif isinstance(behind, LayerNorm) and alone and linear.fuses(op, behind):
            yield _Linear(op, behind)
            index += 1
        else:
            yield _Linear(op, None)
    if heads:
        yield _Heads(heads)


def head_shapes(graph: Graph) -> tuple[HeadShape, ...]:
    """The shapes of the heads of attention in a graph that can be lowered, each shape once."""
    scores = [
        (op, behind)
        for op, behind in pairwise(graph.ops)
        if isinstance(op, MatMul) and isinstance(op.finish, DeferredSoftmax)
    ]
    heads = (_head(op, behind) for op, behind in scores)
    return tuple(dict.fromkeys(head.shape for head in heads if head))


class _Readers:
    """The operators that read each part of a tensor."""

    def __init__(self, graph: Graph):
        self._outputs = graph.outputs
        self._of: dict[str, list[tuple[View, str]]] = {}
        for op in graph.ops:
            for view in operands(op):
                self._of.setdefault(view.tensor, []).append((view, op.name))

    def only(self, op: Op, reader: Op) -> bool:
        """Whether nobody but `reader` reads what `op` writes."""
        return all(
            view.tensor not in self._outputs
            and {name for other, name in self._of.get(view.tensor, ()) if view.meets(other)}
            <= {reader.name}
            for view in results(op)
        )


def _head(op: Op, behind: Op | None) -> Head | None:
    """The head that begins with `op`, if one does.  `behind` alone reads what `op` writes."""
    finish = None if isinstance(op, LayerNorm | Combine) else op.finish
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


def with_affines(graph: Graph, dim: int) -> Graph:
    """`graph` with a constant for each normalization's gamma and beta."""
    rows = {
        affine_name(op): affine_row(graph, op, dim) for op in graph.ops if isinstance(op, LayerNorm)
    }
    tensors = {name: Tensor(name, "int32", *row.shape) for name, row in rows.items()}
    return replace(
        graph,
        tensors={**graph.tensors, **tensors},
        constants={**graph.constants, **rows},
    )
