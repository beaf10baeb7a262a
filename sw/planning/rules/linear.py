"""What makes a stage of sums legal, and the normalization of its results."""

from collections.abc import Iterator

from celosia.sw.ir.graph import (
    AddResidual,
    DeferredSoftmax,
    DivideBySums,
    LayerNorm,
    MatMul,
    Requantize,
    Softmax,
    Sums,
    Transform,
    View,
)
from celosia.sw.planning.forms.groups import fuses
from celosia.sw.planning.forms.stages import LinearStage, SumsDrain
from celosia.sw.planning.rules.common import Rule, StageRules
from celosia.sw.planning.rules.norm import norm_rules

__all__ = ["drain_rules", "linear_rules", "mvout_finishes", "parameter_kinds"]


def linear_rules(
    stage: LinearStage, rules: StageRules, op: MatMul | Transform, norm: LayerNorm | None = None
) -> Iterator[Rule]:
    """The rules of a stage that computes `op`, and the normalization that it names, if any."""
    if isinstance(op.finish, DeferredSoftmax | DivideBySums):
        yield "kind", False, f"{op.finish} is one half of a head of attention"
    yield from rules.given([op.bias], inputs=True)
    yield from rules.block_rows(stage.rows, op.out.rows)
    yield from rules.cut("tiles", stage.tiles, rules.tiles(op.out.cols))
    yield from _operands(stage, op, rules)
    yield from _loops(stage, op, norm, rules)
    block = max(stage.rows) * max(stage.tiles)
    yield from rules.fits("sums-fit", stage.sums, "accumulator", block)
    yield from drain_rules(stage.drain, op, max(stage.rows), max(stage.tiles), rules)
    needed = isinstance(op.finish, Softmax) or norm is not None
    yield "slots", bool(stage.slots) == needed, f"slots {stage.slots!r}, but {op} and {norm}"
    if needed:
        yield from rules.fits("slots-fit", stage.slots, "statistics", max(stage.rows))
    yield from _norm(stage, op, norm, rules)
    if stage.w.ring:
        yield from rules.apart((stage.a.ring,), (stage.w.ring,))
    if stage.drain.residuals:
        yield from rules.apart((stage.drain.results,), (stage.drain.residuals,))


def _operands(stage: LinearStage, op: MatMul | Transform, rules: StageRules) -> Iterator[Rule]:
    a, w, product = stage.a, stage.w, isinstance(op, MatMul)
    legal = bool(a.ring) == product == bool(w.ring)
    yield "operands", legal, f"a {a}, w {w}, but the operator is {op}"
    if not isinstance(op, MatMul):
        return
    yield from rules.pieces(w, op.a.cols, transposed=op.b_transposed)
    if not a.tiles:
        yield "a-tiles", not a.first and a.keep, f"{a}, but pieces of A are as those of W"
        yield from rules.pieces_of_a(a.ring, w, op.a.cols, max(stage.rows))
        return
    depth, most = rules.tiles(op.a.cols), rules.machine.max_blocks
    legal = 0 <= a.first <= a.tiles <= min(depth, most)
    text = f"first {a.first}, then {a.tiles} tiles, of {depth} tiles of K, {most} that a load moves"
    yield "a-tiles", legal, text
    yield from rules.fits("a-fits", a.ring, "scratchpad", max(stage.rows) * a.tiles)


def _loops(
    stage: LinearStage, op: MatMul | Transform, norm: LayerNorm | None, rules: StageRules
) -> Iterator[Rule]:
    """Rows of which anything is counted are computed block by block."""
    if stage.parts:
        yield from rules.cut("parts", stage.parts, stage.tiles[-1])
    if norm is not None or isinstance(op.finish, Softmax):
        alike = stage.outer == "rows" and not stage.parts and not stage.a.tiles and stage.w.keep
        yield "loops", alike, f"{op} takes blocks of rows, one after the other, and all of K"


def mvout_finishes(op: MatMul | Transform, out: str) -> bool:
    """Whether a store of sums makes the results of `op`, of type `out`, each of them once."""
    match op.finish:
        case _ if op.copies:
            return False
        case Sums():
            return True
        case Requantize(float() | int(), 0):
            return out == "int8"
        case _:
            return False


def parameter_kinds(op: MatMul | Transform) -> int:
    """Kinds of parameters that a drain of `op` takes: a bias, and scales of columns."""
    return (op.bias is not None) + isinstance(getattr(op.finish, "scale", None), View)


def drain_rules(
    drain: SumsDrain,
    op: MatMul | Transform,
    rows: int,
    tiles: int,
    rules: StageRules,
    *,
    biased: bool = False,
) -> Iterator[Rule]:
    """The rules of a drain of blocks of so many rows and tiles of the sums of `op`.

    With `biased`, something else adds a bias that has passed the ring of parameters.
    """
    yield "drain-tiles", drain.tiles > 0, f"{drain.tiles} tiles are none"
    if drain.by == "mvout":
        yield from _mvout_rules(drain, op, tiles, rules)
        return
    plain = isinstance(op.finish, Sums) and op.bias is None
    legal = rules.config.normalization and not plain
    yield "drain", legal, f"{drain.by} is not how {op} is finished"
    most = min(drain.tiles, tiles)
    results = rows * rules.blocks(op.out, most)
    yield from rules.fits("results-fit", drain.results, "scratchpad", results)
    kinds = parameter_kinds(op)
    legal = bool(drain.parameters) == bool(kinds or biased)
    yield "parameters", legal, f"ring {drain.parameters!r}, but {kinds} kinds of parameters"
    yield from rules.parameters(drain.parameters, kinds, most)
    added = isinstance(op.finish, AddResidual)
    legal = bool(drain.residuals) == added
    yield "residuals", legal, f"ring {drain.residuals!r}, but the finish is {op.finish}"
    if isinstance(op.finish, AddResidual):
        count = rows * rules.blocks(op.finish.residual, most)
        yield from rules.fits("residuals-fit", drain.residuals, "scratchpad", count)


def _mvout_rules(
    drain: SumsDrain, op: MatMul | Transform, tiles: int, rules: StageRules
) -> Iterator[Rule]:
    """The rules of stores that finish blocks of so many tiles of sums."""
    out = rules.type(op.out)
    text = f"{drain.by} does not do {op.finish} to {out}{', twice' if op.copies else ''}"
    yield "drain", mvout_finishes(op, out), text
    names = (drain.results, drain.residuals)
    yield "drain", not any(names), f"mvout takes no such rings, but {names} are given"
    machine = rules.machine
    most = machine.max_accumulator_blocks if out == "int32" else machine.max_blocks
    yield "drain-tiles", drain.tiles <= most, f"{drain.tiles} is not in 1..{most}"
    legal = bool(drain.parameters) == (op.bias is not None)
    yield "parameters", legal, f"ring {drain.parameters!r}, but the bias is {op.bias}"
    yield from rules.parameters(drain.parameters, int(op.bias is not None), tiles)


def _norm(
    stage: LinearStage, op: MatMul | Transform, norm: LayerNorm | None, rules: StageRules
) -> Iterator[Rule]:
    if norm is None or stage.norm is None:
        yield "tail", not stage.tail, f"{stage.tail}, but nothing is normalized"
        return
    yield "norm", fuses(op, norm), f"{norm} does not normalize the sums of {op} and a residual"
    yield from norm_rules(stage.norm, norm, max(stage.rows), rules)
    if stage.tail:
        yield from rules.cut("tail", tuple(part.rows for part in stage.tail), stage.rows[-1])
    for part in stage.tail:
        yield from norm_rules(part.of(stage.norm), norm, part.rows, rules)
