"""What a plan decides about sums: blocks, pieces of operands, and how results leave."""

from dataclasses import replace
from typing import Any, Final

from celosia.sw.ir.graph import AddResidual, MatMul, Softmax, Sums, Transform
from celosia.sw.planning.decisions.decide_norm import NormDecision
from celosia.sw.planning.decisions.decided import Decided
from celosia.sw.planning.extents import even_sizes, tiles
from celosia.sw.planning.finish import stores
from celosia.sw.planning.forms.groups import Linear
from celosia.sw.planning.forms.stages import (
    LinearStage,
    PiecesOfA,
    PiecesOfW,
    SumsDrain,
    TailPart,
)
from celosia.sw.planning.rules.linear import parameter_kinds

__all__ = ["decide_linear"]

_BIASES: Final = 2
"""Stores take the bias of a block while that of the next one is loaded."""
_TAIL_TILES: Final = 2
"""Tiles of rows in a part of a block whose normalization nothing hides."""


def decide_linear(group: Linear, decided: Decided) -> LinearStage:
    """The stage of sums, and of the normalization of what they become, if any."""
    op, places, dim = group.op, decided.places, decided.dim
    norm = group.norm and NormDecision(group.norm, decided)
    across, half = tiles(op.out.cols, dim), places.accumulator_half
    softmax = isinstance(op.finish, Softmax)
    most = min(places.block_rows, norm.rows) if norm else places.block_rows
    if softmax:
        most = min(most, _softmax_rows(op, across, decided), places.slots)
    rows = even_sizes(op.out.rows, most)
    blocks = (across,)
    if not softmax or max(rows) * across > half:  # Of what half the accumulator holds.
        most = half // max(rows)
        if op.bias is not None and _by_stores(op, decided):
            most = min(most, places.rows("columns") // _BIASES)
        multiple = dim * min(most, places.config.max_blocks)
        sizes = even_sizes(op.out.cols, most * dim, multiple)
        blocks = tuple(tiles(size, dim) for size in sizes)
    drain = _drain(op, max(rows), max(blocks), decided)
    source = drain.results if places.layout.stays else places.added
    decided.stay(op.out, drain.results)
    stage = LinearStage(
        op=op.name,
        rows=rows,
        tiles=blocks,
        **(_operands(op, decided) if isinstance(op, MatMul) else {}),
        sums="halves",
        drain=drain,
        slots="slots" if norm or softmax else "",
        norm=norm and norm.plan(max(rows), source, short=places.layout.stays),
        tail=_tail(norm, rows) if norm else (),
    )
    decided.blocks += stage.blocks
    return stage


def _softmax_rows(op: MatMul | Transform, across: int, decided: Decided) -> int:
    """Rows of a block of a softmax: whole ones, so that sums are there for all three passes.

    But products of fewer rows than the array has take as long as the tile of weights that they
    wait for; three passes over blocks of many rows are sooner over then.
    """
    whole = max(1, decided.places.accumulator_half // across)
    short = isinstance(op, MatMul) and whole < min(decided.dim, op.out.rows)
    return decided.places.block_rows if short else whole


def _operands(op: MatMul, decided: Decided) -> dict[str, Any]:
    """The pieces of A and of W."""
    places = decided.places
    packing = decided.graph.tensors[op.b.tensor].packing
    a = decided.ring_of(op.a, "activations")
    w = PiecesOfW(
        ring=places.weights(a),
        k_tiles=places.piece_tiles * packing.per_byte,  # As many rows as of int8.
        columns=places.columns(places.rows("weights")),
        pieces=places.layout.nest_pieces,
    )
    return {"a": PiecesOfA(ring=a), "w": w}


def _by_stores(op: MatMul | Transform, decided: Decided) -> bool:
    """Whether stores finish sums: those that are results, or all where nothing else could."""
    plain = isinstance(op.finish, Sums) and op.bias is None
    return plain or not decided.places.config.normalization


def _drain(op: MatMul | Transform, rows: int, blocks: int, decided: Decided) -> SumsDrain:
    """How blocks of sums leave: the results of two transforms fit into their ring."""
    places, size = decided.places, decided.bytes(op.out)
    if _by_stores(op, decided):
        return stores(op, decided.graph.tensors[op.out.tensor].type, places.config, "columns")
    ring, residuals, limits = places.results(size), "", [blocks]
    if size == 1:
        ring = decided.of_heads.get(op.out.tensor, ring)
    if isinstance(op.finish, AddResidual):
        residuals = decided.ring_of(op.finish.residual, places.residuals)
        ring = places.beside(residuals)
        added = rows * decided.bytes(op.finish.residual)
        limits.append(max(1, places.rows(residuals) // added))
    return SumsDrain(
        tiles=min(places.drain_tiles(ring, rows * size), *limits),
        results=ring,
        parameters="columns" if parameter_kinds(op) else "",
        residuals=residuals,
    )


def _tail(norm: NormDecision, rows: tuple[int, ...]) -> tuple[TailPart, ...]:
    """The end of the last block, if there is nothing to hide its normalization under.

    Its last columns are done in parts of fewer rows, so that the normalization of only the last
    of these is exposed.  Behind the last products of the graph nobody else needs the ring of
    what is added.
    """
    ends = norm.op == norm.decided.graph.ops[-1]
    if not ends and len(rows) > 1:
        return ()
    dim, places = norm.decided.dim, norm.decided.places
    sizes = even_sizes(rows[len(rows) - 1], _TAIL_TILES * dim, dim)
    parts = [TailPart(rows=each, tiles=norm.tiles(each, short=True)) for each in sizes]
    if ends and places.added != "words":
        parts[-1] = replace(parts[-1], source="words")
    return tuple(parts) if ends or len(parts) > 1 else ()
