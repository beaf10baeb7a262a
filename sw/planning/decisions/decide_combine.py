"""What a plan decides about combinations: where operands go, and how many of their rows at once."""

from celosia.sw.ir.graph import Combination
from celosia.sw.planning.decisions.decided import Decided
from celosia.sw.planning.extents import even_sizes, tiles
from celosia.sw.planning.forms.stages import CombineStage

__all__ = ["decide_combine"]


def decide_combine(op: Combination, decided: Decided) -> CombineStage:
    """The stage of `op`: as many rows as a block may have, of the columns for which there is room.

    Rows that are rotated stay whole: raises `ValueError` for those that do not fit.  Operands are
    loaded even if they are results that stay on the chip.
    """
    places, dim = decided.places, decided.dim
    sizes = [decided.bytes(view) for view in (op.a, op.b, op.out)]
    rings = "words", "normalized", places.results(sizes[-1])
    room = min(map(places.at_once, rings, sizes))
    across = tiles(op.out.cols, dim)
    together = across if op.entry.rotates else 1
    if op.entry.rotates and op.out.cols % dim:
        raise ValueError(f"{op}: {op.out.cols} columns are not a multiple of dim = {dim}")
    if room < together:
        raise ValueError(f"{op}: rows of {together} tiles do not fit, only {room} do")
    rows = even_sizes(op.out.rows, min(places.block_rows, room // together))
    most = max(together, min(across, room // max(rows), places.config.max_blocks))
    a, b, results = rings
    return CombineStage(op=op.name, rows=rows, tiles=most, a=a, b=b, results=results)
