"""Heads that are removed of an ONNX file, proved by numbers, and fitted to what they were."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto

from celosia.lab.prune.files.heads import (
    LAYOUTS,
    Attention,
    Heads,
    Layout,
    find_heads,
    keep_heads,
)
from celosia.lab.prune.files.index import Cut
from celosia.lab.prune.parts.part import Gram, Part, kept_columns, repaired
from celosia.lab.prune.parts.share import Share
from celosia.lab.prune.pruned import Wanted
from celosia.sim.support.problems import InputError
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.reference.encoder import Floats

__all__ = ["Run", "fit", "reader_rows", "without_heads"]

Run = Callable[[ModelProto], Mapping[str, Array]]
"""What a file makes of one sample."""

_NEAR: Final = 1e-3
"""How far outputs may be apart that are the same, of the largest of one."""


def without_heads(
    proto: ModelProto,
    known: Sequence[Attention],
    grams: Sequence[Gram],
    wanted: Wanted,
    run: Run,
) -> ModelProto:
    """A narrower copy of a file, with `grams` of what the product behind each heads reads.

    Without repair it computes what the file computes with zeros in place of what those products
    make of the heads that go; the first layout of which that is true is the file's.

    Raises `InputError` if it is true of none, and for a share that removes or leaves none.
    """
    assert wanted.heads is not None
    reason = ""
    for layout in LAYOUTS:
        found, parts, kept = _chosen(proto, known, grams, (wanted, wanted.heads), layout)
        masked = _copy(proto)
        for each, columns in zip(_heads(masked, known), kept, strict=True):
            rows = reader_rows(each.reader)
            gone = np.setdiff1d(np.arange(len(rows)), columns)
            rows[gone] = 0
            _set_rows(each.reader, rows)
        narrow = _copy(proto)
        narrower = _heads(narrow, known)
        groups = {
            each.name: columns[:: part.unit] // part.unit
            for each, columns, part in zip(found, kept, parts, strict=True)
        }
        keep_heads(narrow.graph, groups, narrower, layout)
        try:
            reason = _unlike(run(masked), run(narrow))
        except ImportProblem as problem:
            reason = str(problem)
        if not reason:
            if wanted.repair:
                for each, part, columns in zip(narrower, parts, kept, strict=True):
                    fit(each.reader, each.bias, part, columns)
            return narrow
        if not any(each.merged for each in found):
            break
    raise InputError(
        f"{wanted.heads.option}: the file's sizes could not be followed; its heads stay ({reason})"
    )


def reader_rows(reader: Cut) -> Floats:
    """The matrix of what reads columns: (columns, outputs)."""
    values = reader.values if reader.axis == 0 else reader.values.T
    return values.astype(np.float32)


def _set_rows(reader: Cut, rows: Floats) -> None:
    """Put these rows there."""
    reader.set(rows if reader.axis == 0 else rows.T)


def fit(reader: Cut, bias: Cut | None, part: Part, kept: NDArray[np.intp]) -> None:
    """Fit what reads the `kept` columns, and what is added behind it, by least squares."""
    rows, added = repaired(part, kept, bias=bias is not None)
    _set_rows(reader, rows)
    if bias is not None:
        values = bias.values
        bias.set(values + added.reshape(values.shape).astype(np.float32))


def _chosen(
    proto: ModelProto,
    known: Sequence[Attention],
    grams: Sequence[Gram],
    asked: tuple[Wanted, Share],
    layout: Layout,
) -> tuple[list[Heads], list[Part], list[NDArray[np.intp]]]:
    """The heads of a file, each as a part, and the columns of it that stay."""
    wanted, share = asked
    found, parts, kept = _heads(proto, known), [], []
    for each, gram in zip(found, grams, strict=True):
        sizes = each.sizes
        part = Part(
            unit=sizes.width * sizes.together,
            made=each.value_norms(layout),
            reader=reader_rows(each.reader),
            gram=gram,
        )
        count = share.heads(sizes.heads, sizes.together) // sizes.together
        parts.append(part)
        kept.append(kept_columns(part, wanted.criterion, count))
    return found, parts, kept


def _heads(proto: ModelProto, known: Sequence[Attention]) -> list[Heads]:
    return find_heads(proto.graph, known)[0]


def _copy(proto: ModelProto) -> ModelProto:
    found = ModelProto()
    found.CopyFrom(proto)
    return found


def _unlike(wanted: Mapping[str, Array], found: Mapping[str, Array]) -> str:
    """Why what was found is not what was wanted; empty: it is."""
    for name, values in wanted.items():
        if values.shape != found[name].shape:
            return f"{name} has another shape"
        far = float(np.abs(values.astype(np.float64) - found[name]).max(initial=0))
        if not far <= _NEAR * float(np.abs(values).max(initial=0)):
            return f"{name} is another"
    return ""
