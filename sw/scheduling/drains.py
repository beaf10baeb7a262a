"""Sums on their way out of the accumulator: transforms, and stores of their results."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from celosia.isa.encoding import Function, float_bits
from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    DivideBySums,
    Finish,
    Mask,
    Requantize,
    Scale,
    Sums,
    View,
)
from celosia.sw.ir.program import Drain, LocalRows, Op, Settings, Store, Transform
from celosia.sw.planning.extents import even_cuts, tiles
from celosia.sw.planning.forms.stages import SumsDrain
from celosia.sw.scheduling.moves import Moves

__all__ = ["Leaving", "SumsBlock", "chunks", "drained", "mask_settings", "transformed"]


@dataclass(frozen=True, kw_only=True)
class SumsBlock:
    """Sums in local rows, a block for each tile of columns, and what they become."""

    rows: LocalRows
    tile_blocks: int = 1
    """Blocks of a tile: 2 of int16, which are in the scratchpad."""
    out: View
    bias: View | None = None
    scale: Scale = 1.0
    """The scale of the first step of the finish."""
    residual: View | None = None
    """The rows that are added; None: none are."""
    copies: tuple[View, ...] = ()
    """Where each row of the results goes as well, if anywhere."""
    slot: int = 0
    """The slot of the first row's statistics."""
    first: bool = True
    """These are the first columns of their rows."""
    last: bool = True
    """These are the last columns of their rows."""

    def rows_part(self, row: int, rows: int) -> "SumsBlock":
        """Some of the rows, whose sums are apart from those of the others."""
        return replace(
            self,
            rows=LocalRows(self.rows.space, self.rows.row, rows, self.rows.blocks, rows),
            out=self.out.part(row=row, rows=rows),
            residual=self.residual and self.residual.part(row=row, rows=rows),
            copies=self.copies[row : row + rows],
            slot=self.slot + row,
        )

    def part(self, dim: int, col: int, cols: int) -> "SumsBlock":
        """Some of the columns, from a multiple of `dim` on."""

        def columns(view: View) -> View:
            return view.part(col=col, cols=cols)

        scale = self.scale
        return replace(
            self,
            rows=self.rows.block(
                self.tile_blocks * (col // dim), tiles(self.tile_blocks * cols, dim)
            ),
            out=columns(self.out),
            bias=self.bias and columns(self.bias),
            scale=columns(scale) if isinstance(scale, View) else scale,
            residual=self.residual and columns(self.residual),
            copies=tuple(map(columns, self.copies)),
            first=self.first and col == 0,
            last=self.last and col + cols == self.out.cols,
        )


def drained(
    moves: Moves, how: Finish, sums: SumsBlock, drain: SumsDrain, norm: Settings | None = None
) -> Iterator[Op]:
    """Finish `sums` and store the results.

    With `norm`, fields of CONFIG_NORM, an `AddResidual` counts the moments of its rows.
    """
    for part in chunks(sums, drain, moves.dim):
        residual = None
        if part.residual is not None:
            residual = yield from moves.load(part.residual, drain.residuals)
        target = moves.take(part.out, drain.results)
        function, settings = _function(how, part, counts=norm is not None)
        settings["type"] = moves.element_type(part.out)
        yield from transformed(
            moves, function, part, drain, settings, (target,), residual=residual, norm=norm
        )
        yield from moves.store(part.out, target)
        for row, copy in enumerate(part.copies):
            yield from moves.store(copy, replace(target, row=target.row + row, rows=1))


@dataclass(frozen=True, kw_only=True)
class Leaving:
    """Sums that stores take, some tiles of columns at once, as soon as they are complete."""

    moves: Moves
    how: Finish
    sums: SumsBlock
    drain: SumsDrain
    bias: View | None
    """The bias of the whole block that they are of, if there is one."""
    first: int
    """Tiles of the block before these."""

    def cuts(self, columns: tuple[int, int], first: int) -> Iterator[tuple[int, int]]:
        """The tiles `columns`, cut where those end that leave together; `first` is the first."""
        begin, end = columns[0], sum(columns)
        while begin < end:
            size = min(end - begin, self.drain.tiles - (begin - first) % self.drain.tiles)
            yield begin, size
            begin += size

    def behind(self, end: int) -> Iterator[Op]:
        """Store what is complete with the tile before `end`, of those of `sums`."""
        dim, most, cols = self.moves.dim, self.drain.tiles, self.sums.out.cols
        if end % most and end * dim < cols:
            return
        tile = (end - 1) // most * most
        part = self.sums.part(dim, tile * dim, min(most * dim, cols - tile * dim))
        row = None
        if self.bias is not None:
            row = self.moves.rings[self.drain.parameters].find(self.bias)
            if row is None:
                row = yield from self.moves.load_parameters(self.bias, self.drain.parameters)
            row += self.first + tile
        scale = getattr(self.how, "scale", None)
        relu = getattr(self.how, "relu", False)
        yield Store(part.out, part.rows, Drain(scale and float(scale), relu, row))

    def all(self) -> Iterator[Op]:
        """Store all of them."""
        for end in range(1, tiles(self.sums.out.cols, self.moves.dim) + 1):
            yield from self.behind(end)


def chunks(sums: SumsBlock, drain: SumsDrain, dim: int) -> Iterator[SumsBlock]:
    """The columns that each transform takes."""
    for col, cols in even_cuts(sums.out.cols, dim * drain.tiles, dim):
        yield sums.part(dim, col, cols)


def transformed(
    moves: Moves,
    function: Function,
    sums: SumsBlock,
    drain: SumsDrain,
    settings: dict[str, int],
    targets: tuple[LocalRows, ...] = (),
    **more: Any,
) -> Iterator[Op]:
    """A transform of `sums`, behind the loads of their bias and scales."""
    parameters: dict[str, int] = {}
    if sums.bias is not None:
        settings = settings | {"bias": 1}
        parameters["bias_row"] = yield from moves.load_parameters(sums.bias, drain.parameters)
    if isinstance(sums.scale, View):
        settings = settings | {"column_scale": 1}
        parameters["scale_row"] = yield from moves.load_parameters(sums.scale, drain.parameters)
    else:
        settings = settings | {"scale": float_bits(sums.scale)}
    yield Transform(
        function=function,
        source=sums.rows,
        cols=sums.out.cols,
        targets=targets,
        settings=settings,
        parameters=parameters,
        **more,
    )


def _function(how: Finish, sums: SumsBlock, *, counts: bool) -> tuple[Function, dict[str, int]]:
    """The function of a finish of elements, and its settings."""
    match how:
        case Sums():
            return Function.REQUANTIZE, {}
        case Requantize():
            return Function.REQUANTIZE, {"zero_point": how.zero_point, "relu": int(how.relu)}
        case Activation():
            settings = {"zero_point": how.zero_point, "scale2": float_bits(how.out_scale)}
            return Function[how.function.upper()], settings
        case DivideBySums():
            return Function.CONTEXT, {"statistics": sums.slot}
        case AddResidual():
            settings = {"scale2": float_bits(how.residual_scale)}
            if counts:
                settings |= {"moments": 1, "statistics": sums.slot}
                settings |= {"start": int(sums.first), "finish": int(sums.last)}
            return Function.RESIDUAL, settings
        case _:
            raise ValueError(f"{how}: is no transform of elements")


def mask_settings(mask: Mask, first_row: int, first_key: int) -> dict[str, int]:
    """CONFIG_MASK for a block of scores."""
    settings = {
        "causal": int(mask.causal),
        "first_row": mask.first_row + first_row,
        "first_key": first_key,
        "window": mask.window,
        "ring": mask.ring,
        "keys": mask.keys,
    }
    return {name: value for name, value in settings.items() if value is not None}
