"""What happens to finished sums: transforms of an accumulator block, and stores of the results."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from celosia.isa.encoding import Function, float_bits
from celosia.isa.functions.types import DTYPES
from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    DivideBySums,
    Finish,
    LayerNorm,
    Mask,
    Requantize,
    Scale,
    Sums,
    View,
)
from celosia.sw.ir.program import LocalRows, Settings, Space, Transform
from celosia.sw.lowering.cuts import even_cuts, tiles
from celosia.sw.lowering.places import Places
from celosia.sw.lowering.rings import Ring
from celosia.sw.lowering.writer import ProgramWriter

__all__ = ["TYPES", "FinishedSums", "Finisher", "mask_settings", "norm_settings"]

TYPES: Final = {dtype.name: kind for kind, dtype in DTYPES.items()}
"""The types of tensors that transforms write, by their names."""
_SUM_BYTES: Final = 2
"""Bytes of an element of the residual stream."""
_TILE_CYCLES: Final = 4
"""Cycles from one transform to the next, for each row and tile of columns: the queues that its
stores wait in are short."""
_SHARES: Final = 8
"""One transform may take one of so many shares of the parameter memory, for each kind."""


@dataclass(frozen=True, kw_only=True)
class FinishedSums:
    """Sums in the accumulator, a block for each tile of columns, and what they become."""

    rows: LocalRows
    out: View
    bias: View | None = None
    scale: Scale = 1.0
    """The scale of the first step of the finish."""
    residual: View | None = None
    """The rows that are added; None: none are."""
    slot: int = 0
    """The slot of the first row's statistics."""
    counted: View | None = None
    """The rows that those are of, if not of `out`."""
    first: bool = True
    """These are the first columns of their rows."""
    last: bool = True
    """These are the last columns of their rows."""

    def rows_part(self, row: int, rows: int) -> "FinishedSums":
        """Some of the rows."""
        return replace(
            self,
            rows=LocalRows(self.rows.space, self.rows.row, rows, self.rows.blocks, rows),
            out=self.out.part(row=row, rows=rows),
            residual=self.residual and self.residual.part(row=row, rows=rows),
        )

    def part(self, dim: int, col: int, cols: int) -> "FinishedSums":
        """Some of the columns, from a multiple of `dim` on."""

        def columns(view: View) -> View:
            return view.part(col=col, cols=cols)

        scale = self.scale
        return FinishedSums(
            rows=self.rows.block(col // dim, tiles(cols, dim)),
            out=columns(self.out),
            bias=self.bias and columns(self.bias),
            scale=columns(scale) if isinstance(scale, View) else scale,
            residual=self.residual and columns(self.residual),
            slot=self.slot,
            counted=self.counted,
            first=self.first and col == 0,
            last=self.last and col + cols == self.out.cols,
        )


class Finisher:
    """A writer of the transforms and stores that finish sums."""

    def __init__(self, writer: ProgramWriter, places: Places):
        self.writer = writer
        self.places = places
        self.dim = writer.config.dim

    def finish(
        self,
        how: Finish,
        sums: FinishedSums,
        ring: Ring | None = None,
        norm: Settings | None = None,
    ) -> None:
        """Finish `sums` and store the results, by way of `ring`, as products go on.

        With `norm`, an `AddResidual` counts the moments for it: its `norm_settings`.
        """
        if isinstance(how, Sums) and sums.bias is None:
            self.writer.store(sums.out, sums.rows)
            return
        ring = ring or self.places.results(self.writer.element_bytes(sums.out))
        uses = isinstance(how, DivideBySums) or norm
        slots = range(sums.slot, sums.slot + sums.out.rows) if uses else range(0)
        for part in self.chunks(sums, ring):
            col = part.out.col - sums.out.col
            self.writer.defer(
                lambda part=part: self._finish(how, part, ring, norm),
                (part.out,),
                delay=sums.out.rows * col // self.dim * _TILE_CYCLES,
                drains=part.rows,
                slots=slots,
            )
            if col == 0:
                self.writer.trickle()
        if not self.places.choices.overlap:
            self.writer.agenda.write_all()

    def _finish(self, how: Finish, sums: FinishedSums, ring: Ring, norm: Settings | None) -> None:
        residual = None
        if sums.residual is not None:  # First: it may have to wait for others who take of `ring`.
            residual = self.writer.load(sums.residual, self.places.residuals)
        target = self.target(sums.out, ring)
        self._transform(how, sums, target, residual, norm)
        self.writer.store(sums.out, target)

    def target(self, out: View, ring: Ring) -> LocalRows:
        """Rows of `ring` for a result."""
        blocks = self.writer.blocks(out)
        first = ring.take(blocks * out.rows)
        return LocalRows(Space.SCRATCHPAD, first, out.rows, blocks, out.rows)

    def _transform(
        self,
        how: Finish,
        sums: FinishedSums,
        target: LocalRows,
        residual: LocalRows | None,
        norm: Settings | None,
    ) -> None:
        """The transform of a finish that takes one."""
        settings: dict[str, int] = {"type": TYPES[self.writer.tensors[sums.out.tensor].type]}
        match how:
            case Sums():
                function = Function.REQUANTIZE
            case Requantize():
                function = Function.REQUANTIZE
                settings |= {"zero_point": how.zero_point, "relu": int(how.relu)}
            case Activation():
                function = Function[how.function.upper()]
                settings |= {"zero_point": how.zero_point, "scale2": float_bits(how.out_scale)}
            case DivideBySums():
                function = Function.CONTEXT
                settings |= {"statistics": sums.slot}
            case AddResidual():
                function = Function.RESIDUAL
                settings |= {"scale2": float_bits(how.residual_scale)}
                if norm:
                    settings |= {"moments": 1, "statistics": sums.slot}
                    settings |= {"start": int(sums.first), "finish": int(sums.last)}
            case _:
                raise ValueError(f"{how}: is no transform of elements")
        self.write(function, sums, (target,), settings, residual=residual, norm=norm)

    def write(
        self,
        function: Function,
        sums: FinishedSums,
        targets: tuple[LocalRows, ...],
        settings: dict[str, int],
        *,
        residual: LocalRows | None = None,
        norm: Settings | None = None,
        mask: dict[str, int] | None = None,
    ) -> None:
        """A transform of `sums`, with their bias and scale."""
        parameters: dict[str, int] = {}
        ring = self.places.columns
        if sums.bias is not None:
            settings = settings | {"bias": 1}
            parameters["bias_row"] = self.writer.load_parameters(sums.bias, ring)
        if isinstance(sums.scale, View):
            settings = settings | {"column_scale": 1}
            parameters["scale_row"] = self.writer.load_parameters(sums.scale, ring)
        else:
            settings = settings | {"scale": float_bits(sums.scale)}
        self.writer.write(
            Transform(
                function=function,
                source=sums.rows,
                cols=sums.out.cols,
                targets=targets,
                residual=residual,
                settings=settings,
                parameters=parameters,
                norm=norm,
                mask=mask,
            ),
            sums.counted or sums.out,
        )

    def chunks(self, sums: FinishedSums, ring: Ring) -> Iterator[FinishedSums]:
        """What one transform finishes: the results of two fit into `ring`."""
        row_bytes = sums.out.rows * self.writer.element_bytes(sums.out)
        most = min(ring.rows // (2 * row_bytes), self.writer.config.parameter_rows // _SHARES)
        if sums.residual is not None:
            most = min(most, self.places.residuals.rows // (_SUM_BYTES * sums.out.rows))
        for col, cols in even_cuts(sums.out.cols, self.dim * max(1, most), self.dim):
            yield sums.part(self.dim, col, cols)


def mask_settings(mask: Mask, first_row: int, first_key: int) -> dict[str, int]:
    """CONFIG_MASK for a block of scores."""
    settings = {"causal": int(mask.causal), "first_row": first_row, "first_key": first_key}
    return settings if mask.keys is None else settings | {"keys": mask.keys}


def norm_settings(op: LayerNorm) -> dict[str, int]:
    """Fields of CONFIG_NORM that count when the moments of a row are complete."""
    settings = {"channels": op.source.cols}
    if op.epsilon:
        settings["epsilon"] = op.epsilon
    if op.rms:
        settings["rms"] = 1
    return settings
