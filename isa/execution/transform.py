"""What a TRANSFORM does to the local memories: its function's meaning on the rows it names."""

from typing import Final

import numpy as np

from celosia.isa import encoding
from celosia.isa.encoding import NO_KEY_LIMIT
from celosia.isa.execution.memories import LocalMemories
from celosia.isa.functions.operands import Array, Operands
from celosia.isa.functions.types import DTYPES, ElementType
from celosia.isa.numerics import Affine, add_bias, long_scales, scale_from_bits
from celosia.isa.operations.transforms import Transform

__all__ = ["LongScaleError", "execute_transform", "operands_of"]

_STAGED: Final = DTYPES[ElementType.INT16]
_SUM: Final = DTYPES[ElementType.INT32]


class LongScaleError(Exception):
    """A column's scale has more bits than ``scale_bits``: the transform is a SCALE error."""


def execute_transform(transform: Transform, memories: LocalMemories) -> None:
    """Do a legal `transform`.  Raises `LongScaleError`, and then does nothing."""
    results = transform.rules.meaning(operands_of(transform, memories))
    for place, result in zip(transform.results(memories.dim), results, strict=True):
        memories.put(place, result)


def operands_of(transform: Transform, memories: LocalMemories) -> Operands:
    """The operands of a legal `transform`, as the local memories have them."""
    rules, get = transform.rules, transform.setting
    settings = transform.state.fields[encoding.CONFIG_TRANSFORM.name]
    slots = memories.statistics.slots(get("statistics"), transform.rows)
    return Operands(
        x=_source(transform, memories),
        kind=DTYPES[transform.type],
        scale=_scale(transform, memories),
        scale2=scale_from_bits(settings["scale2"]),
        zero_point=settings["zero_point"] if transform.type is ElementType.UINT8 else 0,
        relu=bool(settings["relu"]),
        stored=bool(settings["stored"]),
        residual=_residual(transform, memories),
        affines=_affines(transform, memories) if rules.normalizes else (),
        visible=_visible(transform) if rules.scores else None,
        constants=transform.state.fields[rules.constants] if rules.constants else {},
        start=bool(settings["start"]),
        finish=bool(settings["finish"]),
        moments=bool(settings["moments"]),
        channels=get("channels", encoding.CONFIG_NORM),
        epsilon=get("epsilon", encoding.CONFIG_NORM),
        rms=bool(get("rms", encoding.CONFIG_NORM)),
        statistics=slots,
    )


def _source(transform: Transform, memories: LocalMemories) -> Array:
    place, rows, cols = transform.source(memories.dim), transform.rows, transform.cols
    if transform.staged:
        return memories.get(place, rows, cols, _STAGED)
    sums = memories.get(place, rows, cols, _SUM)
    if not transform.setting("bias"):
        return sums
    row = transform.setting("bias_row", encoding.CONFIG_ROWS)
    return add_bias(sums, memories.parameter_vector(row, cols))


def _residual(transform: Transform, memories: LocalMemories) -> Array | None:
    place = transform.residual(memories.dim)
    return place and memories.get(place, transform.rows, transform.cols, _STAGED)


def _scale(transform: Transform, memories: LocalMemories) -> Array:
    if not transform.setting("column_scale") or transform.staged:
        return scale_from_bits(transform.setting("scale"))
    row = transform.setting("scale_row", encoding.CONFIG_ROWS)
    scales = memories.parameter_vector(row, transform.cols, np.float32)
    scaled = transform.type is not ElementType.INT32
    if scaled and long_scales(scales, memories.scale_bits).any():
        raise LongScaleError
    return scales


def _visible(transform: Transform) -> Array | None:
    """Which elements are not masked, or None if none is masked."""
    mask = transform.state.fields[encoding.CONFIG_MASK.name]
    keys = mask["first_key"] + np.arange(transform.cols)
    seen = None
    if mask["keys"] != NO_KEY_LIMIT:
        seen = np.broadcast_to(keys < mask["keys"], (transform.rows, transform.cols))
    if mask["causal"]:
        rows = mask["first_row"] + np.arange(transform.rows)[:, np.newaxis]
        seen = keys <= rows if seen is None else seen & (keys <= rows)
        if mask["window"]:
            passed = rows - mask["window"]
            seen &= keys > passed
            if mask["ring"]:
                seen |= keys > passed + mask["ring"]
    return seen


def _affines(transform: Transform, memories: LocalMemories) -> tuple[Affine, ...]:
    """Gamma and beta of each result: its half of each of the parameter rows."""
    ((first, count),) = transform.parameters(memories.dim)
    half, cols = memories.dim // 2, transform.cols
    rows = memories.parameters[first : first + count].reshape(-1, 2, 2, half)
    outputs = (("shift", transform.type), ("shift2", transform.type2))
    affines = []
    for number, (shift, kind) in enumerate(outputs[: 1 + transform.two]):
        gamma, beta = (rows[:, row, number].reshape(-1)[:cols] for row in (0, 1))
        shifted = transform.setting(shift, encoding.CONFIG_NORM)
        affines.append(Affine(gamma.astype(np.int16), beta, shifted, DTYPES[kind]))
    return tuple(affines)
