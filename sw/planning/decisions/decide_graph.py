"""A graph to its plan: how each group of operators is cut, and which rings it uses.

Guarantees a plan that `celosia.sw.planning.rules.verify` accepts, for every graph that it does not
refuse.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import (
    AddResidual,
    Combination,
    Graph,
    LayerNorm,
    MatMul,
    Softmax,
    Sums,
    Transform,
    View,
)
from celosia.sw.planning.cached_map import CachedMap, SeveralTextsMap
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.planning.decisions.decide_combine import decide_combine
from celosia.sw.planning.decisions.decide_heads import decide_heads
from celosia.sw.planning.extents import even_cuts, tiles
from celosia.sw.planning.forms.groups import Group, Heads, Linear, groups
from celosia.sw.planning.forms.plan import Plan, Stage
from celosia.sw.planning.forms.stages import (
    LinearStage,
    NormPlan,
    NormStage,
    PiecesOfA,
    PiecesOfW,
    SumsDrain,
    TailPart,
)
from celosia.sw.planning.memory_map import FewRowsMap, MemoryMap, SeveralRowsMap
from celosia.sw.planning.rules.common import ELEMENT_BYTES
from celosia.sw.planning.rules.verify import machine_of, verify_plan

__all__ = ["decide_graph"]

_AFFINE_SHARES: Final = 16
"""Tiles of columns take four rows each; a transform may take a quarter of the parameter memory."""
_RESULTS: Final = 2
"""Results of so many transforms fit into their ring at once."""
_TAIL_TILES: Final = 2
"""Tiles of rows in a part of a block whose normalization nothing hides."""


def decide_graph(graph: Graph, config: AcceleratorConfig, choices: Choices = DEFAULT) -> Plan:
    """The plan of a verified `graph`, as far as `choices` leave anything to decide.

    Raises `ValueError` that names the operator for what the accelerator cannot do.
    """
    if not config.normalization:
        raise ValueError("normalization: this accelerator has no unit for transforms")
    for places in _maps(graph, config, choices):
        with suppress(ValueError):  # Something does not fit there.
            return _planned(graph, places)
    return _planned(graph, MemoryMap(config, choices))


def _maps(graph: Graph, config: AcceleratorConfig, choices: Choices) -> Iterator[MemoryMap]:
    """Where results may stay on the chip, if no product has many more rows than the array."""
    rows = max((op.out.rows for op in graph.ops if isinstance(op, MatMul)), default=0)
    if 0 < rows <= config.dim:
        yield _cached_map(graph, config, choices) if graph.appended else FewRowsMap(config, choices)
    elif config.dim < rows <= 2 * config.dim and not graph.appended:
        yield SeveralRowsMap(config, choices)


def _cached_map(graph: Graph, config: AcceleratorConfig, choices: Choices) -> CachedMap:
    """The map of a graph with caches, whose products have few rows: by how wide its streams are."""
    places = CachedMap(config, choices)
    streams = (op.out for op in graph.ops if isinstance(op, MatMul | Transform) and _adds(op))
    size = ELEMENT_BYTES["int16"]
    most = max((size * view.rows * tiles(view.cols, config.dim) for view in streams), default=0)
    return places if most <= places.rows("wide") else SeveralTextsMap(config, choices)


def _adds(op: MatMul | Transform) -> bool:
    return isinstance(op.finish, AddResidual)


def _planned(graph: Graph, places: MemoryMap) -> Plan:
    config = places.config
    stages = tuple(_Decisions(graph, places).stages())
    plan = Plan(
        graph=graph.name,
        machine=machine_of(config),
        scheduler="need" if places.choices.schedule_loads else "regular",
        defer=places.choices.overlap,
        rings=places.rings,
        stages=stages,
    )
    return verify_plan(plan, graph, config)


class _Decisions:
    def __init__(self, graph: Graph, places: MemoryMap):
        self.graph, self.places = graph, places
        self.config, self.choices, self.dim = places.config, places.choices, places.config.dim
        self.stays: dict[str, str] = {}
        """The rings of tensors that stay there as they are computed."""
        self.of_heads: dict[str, str] = {}
        """The rings of results of bytes that heads read, if these stay."""
        self.blocks = 0
        """Blocks of sums so far: they take halves of the accumulator by turns."""

    def stages(self) -> Iterator[Stage]:
        """A stage for each group of operators."""
        together = list(groups(self.graph, fused_norms=self.choices.fused_norms))
        if self.places.stays:
            of_heads = _read_by_heads(together)
            self.of_heads = {
                name: ring for name, ring in of_heads if not self.graph.tensors[name].cache
            }
        for group in together:
            match group:
                case Heads():
                    turn = self.blocks % 2
                    stage = decide_heads(group.heads, self.places, self.graph, self.stays, turn)
                    self.blocks += bool(stage.first)
                    self._contexts_stay(group, stage.groups[0].drain.results)
                case Linear(op, norm):
                    stage = self._linear(op, norm)
                    self.blocks += stage.blocks
                    self._stay(op.out, stage.drain.results)
                    if norm is not None:
                        self._norm_stays(norm)
                case Combination():
                    stage = decide_combine(group, self.places, self.graph)
                case LayerNorm():
                    stage = self._norm(group)
                    self._norm_stays(group)
                case _:
                    raise AssertionError(f"{group}: no stage computes it alone")
            yield stage

    def _stay(self, out: View, ring: str) -> None:
        if self.places.stays and ring and not self.graph.tensors[out.tensor].cache:
            self.stays[out.tensor] = ring

    def _contexts_stay(self, heads: Heads, ring: str) -> None:
        """Contexts stay if they are of all rows: nobody finds those of several texts together."""
        for out in (head.context.out for head in heads.heads):
            if out.rows == self.graph.tensors[out.tensor].rows:
                self._stay(out, ring)

    def _norm_stays(self, norm: LayerNorm) -> None:
        for output, ring in zip(norm.outputs, self._norm_results(norm), strict=True):
            self._stay(output.out, ring)

    def _linear(self, op: MatMul | Transform, norm: LayerNorm | None) -> LinearStage:
        most, places = self.places.block_rows, self.places
        across = tiles(op.out.cols, self.dim)
        if norm is not None:
            most = min(most, self._norm_rows(norm))
        if isinstance(op.finish, Softmax):
            most = min(most, self._softmax_rows(op, across), places.slots)
        rows = _sizes(even_cuts(op.out.rows, most))
        whole = isinstance(op.finish, Softmax) and max(rows) * across <= places.accumulator_half
        blocks = (across,) if whole else self._blocks(op.out.cols, max(rows))
        drain = self._drain(op, max(rows), max(blocks))
        source = drain.results if places.stays else places.added
        return LinearStage(
            op=op.name,
            rows=rows,
            tiles=blocks,
            **(self._operands(op) if isinstance(op, MatMul) else {}),
            sums="halves",
            drain=drain,
            slots="slots" if norm is not None or isinstance(op.finish, Softmax) else "",
            norm=norm and self._norm_plan(norm, max(rows), source, short=places.stays),
            tail=() if norm is None else self._tail(norm, rows),
        )

    def _softmax_rows(self, op: MatMul | Transform, across: int) -> int:
        """Rows of a block of a softmax: whole ones, so that sums are there for all three passes.

        But products of fewer rows than the array has take as long as the tile of weights that they
        wait for; three passes over blocks of many rows are sooner over then.
        """
        most, half = self.places.block_rows, self.places.accumulator_half
        whole = max(1, half // across)
        short = isinstance(op, MatMul) and whole < min(self.dim, op.out.rows)
        return most if short else whole

    def _ring_of(self, view: View, ring: str) -> str:
        """Where `view` stays, or else the ring that it is loaded into."""
        return self.stays.get(view.tensor, ring)

    def _blocks(self, cols: int, rows: int) -> tuple[int, ...]:
        """Tiles of columns of the sums of `rows` rows that half the accumulator holds."""
        most = self.places.accumulator_half // rows
        multiple = self.dim * min(most, self.config.max_blocks)
        return tuple(
            tiles(size, self.dim) for size in _sizes(even_cuts(cols, most * self.dim, multiple))
        )

    def _operands(self, op: MatMul) -> dict[str, Any]:
        """The pieces of A and of W."""
        places = self.places
        w = PiecesOfW(
            ring="weights",
            k_tiles=places.piece_tiles,
            columns=places.columns(places.rows("weights")),
            pieces=places.nest_pieces,
        )
        return {"a": PiecesOfA(ring=self._ring_of(op.a, "activations")), "w": w}

    def _drain(self, op: MatMul | Transform, rows: int, blocks: int) -> SumsDrain:
        """How blocks of sums leave: the results of two transforms fit into their ring."""
        if isinstance(op.finish, Sums) and op.bias is None:
            return SumsDrain(by="mvout", tiles=self.config.max_accumulator_blocks)
        places, size = self.places, self._bytes(op.out)
        ring, residuals = places.results(size), ""
        if size == 1:
            ring = self.of_heads.get(op.out.tensor, ring)
        if isinstance(op.finish, AddResidual):
            residuals = self._ring_of(op.finish.residual, places.residuals)
            ring = places.beside(residuals)
        most = min(places.drain_tiles(ring, rows * size), blocks)
        if isinstance(op.finish, AddResidual):
            added = rows * self._bytes(op.finish.residual)
            most = max(1, min(most, places.rows(residuals) // added))
        columns = op.bias is not None or isinstance(getattr(op.finish, "scale", None), View)
        return SumsDrain(
            tiles=most,
            results=ring,
            parameters="columns" if columns else "",
            residuals=residuals,
        )

    # Normalizations.

    def _norm(self, op: LayerNorm) -> NormStage:
        """Rows from memory: loaded once if whole rows fit, else twice."""
        fit = self.places.rows("words") // (
            self._bytes(op.source) * tiles(op.source.cols, self.dim)
        )
        rows = _sizes(even_cuts(op.source.rows, min(fit or op.source.rows, self._norm_rows(op))))
        source = self._ring_of(op.source, "words")
        norm = self._norm_plan(op, max(rows), source, short=True)
        return NormStage(rows=rows, norm=norm, slots="slots")

    def _norm_rows(self, op: LayerNorm) -> int:
        """Rows of a block: none of the memories that it needs limits them to fewer."""
        return min(self.places.block_rows, self._tiles_that_fit(op, 1), self.places.slots)

    def _norm_plan(self, op: LayerNorm, rows: int, source: str, *, short: bool = False) -> NormPlan:
        return NormPlan(
            op=op.name,
            tiles=self._norm_tiles(op, rows, short=short),
            source=source,
            results=self._norm_results(op),
            affines="affines",
        )

    def _norm_tiles(self, op: LayerNorm, rows: int, *, short: bool) -> int:
        """Tiles of columns of each transform; the results of `short` ones come sooner."""
        most = min(self._tiles_that_fit(op, rows), self.config.parameter_rows // _AFFINE_SHARES)
        most = min(most, self.config.max_blocks) if short else most
        return max(1, min(most, tiles(op.source.cols, self.dim)))

    def _tiles_that_fit(self, op: LayerNorm, rows: int) -> int:
        """Tiles of columns of `rows` rows of which several results fit into their rings."""
        places = self.places
        source = places.rows(places.added) // (rows * self._bytes(op.source))
        results = (
            places.rows(ring) // (_RESULTS * rows * self._bytes(output.out))
            for ring, output in zip(self._norm_results(op), op.outputs, strict=True)
        )
        return min(source, *results)

    def _norm_results(self, op: LayerNorm) -> tuple[str, ...]:
        """Where each result goes: two of them never to one ring, which may be full with either."""
        narrow, wide = self.places.narrow_norms, "normalized"
        sizes = [self._bytes(output.out) for output in op.outputs]
        rings = [narrow if size == 1 else wide for size in sizes]
        if len(rings) > 1 and rings[0] == rings[1]:
            rings[1] = wide if rings[0] == narrow else narrow
        return tuple(rings)

    def _tail(self, norm: LayerNorm, rows: tuple[int, ...]) -> tuple[TailPart, ...]:
        """The end of the last block, if there is nothing to hide its normalization under.

        Its last columns are done in parts of fewer rows, so that the normalization of only the last
        of these is exposed.  Behind the last products of the graph nobody else needs the ring of
        what is added.
        """
        ends = norm == self.graph.ops[-1]
        if not ends and len(rows) > 1:
            return ()
        sizes = _sizes(even_cuts(rows[len(rows) - 1], _TAIL_TILES * self.dim, self.dim))
        parts = [
            TailPart(rows=each, tiles=self._norm_tiles(norm, each, short=True)) for each in sizes
        ]
        if ends and self.places.added != "words":
            parts[-1] = replace(parts[-1], source="words")
        return tuple(parts) if ends or len(parts) > 1 else ()

    def _bytes(self, view: View) -> int:
        return ELEMENT_BYTES[self.graph.tensors[view.tensor].type]


def _read_by_heads(
    together: Iterable[Group],
) -> Iterator[tuple[str, str]]:
    """Tensors that heads of attention read, and the ring of each: queries apart from others."""
    heads = [head for group in together if isinstance(group, Heads) for head in group.heads]
    for head in heads:
        yield head.scores.a.tensor, "queries"
    for head in heads:
        yield head.scores.b.tensor, "operands"
        yield head.context.b.tensor, "operands"


def _sizes(cuts: Iterator[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(size for _, size in cuts)
