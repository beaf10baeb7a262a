"""Operators of ONNX that move elements, by places that are known before the model runs."""

from collections.abc import Mapping
from math import prod
from typing import Final, Literal

import numpy as np

from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.nn.operators.operator import expect, normalized_axes, normalized_axis

__all__ = ["LAYOUT"]

LAYOUT: Final = Handlers()


@LAYOUT.of("Reshape", but="a shape that the model computes")
def _reshape(call: Call) -> str:
    shape, given = list(call.ints(1, "shape")), call.type(0).shape
    if not call.attribute("allowzero", 0):
        for axis, size in enumerate(shape):
            if size == 0:
                expect(axis < len(given), f"its shape {tuple(shape)} copies axis {axis} of {given}")
                shape[axis] = given[axis]
    if -1 in shape:
        rest = prod(size for size in shape if size != -1)
        expect(
            shape.count(-1) == 1 and rest > 0 and call.type(0).size % rest == 0,
            f"{call.type(0)} has not the elements of shape {tuple(shape)}",
        )
        shape[shape.index(-1)] = call.type(0).size // rest
    return call.reshape(call[0], shape)


@LAYOUT.of("Flatten")
def _flatten(call: Call) -> str:
    shape, axis = call.type(0).shape, call.attribute("axis", 1)
    expect(-len(shape) <= axis <= len(shape), f"axis {axis} is not in {call.type(0)}")
    axis = axis + len(shape) if axis < 0 else axis
    return call.reshape(call[0], (prod(shape[:axis]), prod(shape[axis:])))


def _axes(call: Call) -> tuple[int, ...] | None:
    """The axes of a node, which became an operand in opset 13; None if it names none."""
    if call.version < 13:
        return call.attribute("axes", None)
    return None if call.optional(1) is None else call.ints(1, "axes")


@LAYOUT.of("Squeeze", but="axes that the model computes")
def _squeeze(call: Call) -> str:
    shape, axes = call.type(0).shape, _axes(call)
    if axes is None:
        axes = [axis for axis, size in enumerate(shape) if size == 1]
    axes = normalized_axes(axes, len(shape))
    for axis in axes:
        expect(shape[axis] == 1, f"axis {axis} of {call.type(0)} has not size 1")
    return call.reshape(call[0], [size for axis, size in enumerate(shape) if axis not in axes])


@LAYOUT.of("Unsqueeze", but="axes that the model computes")
def _unsqueeze(call: Call) -> str:
    shape, axes = call.type(0).shape, _axes(call) or ()
    axes = normalized_axes(axes, len(shape) + len(axes))
    sizes = iter(shape)
    rank = len(shape) + len(axes)
    return call.reshape(call[0], [1 if axis in axes else next(sizes) for axis in range(rank)])


@LAYOUT.of("Transpose")
def _transpose(call: Call) -> str:
    backwards = tuple(reversed(range(call.type(0).rank)))
    return call.op("transpose", call[0], permutation=call.attribute("perm", backwards))


@LAYOUT.of("Expand", but="a shape that the model computes")
def _expand(call: Call) -> str:
    shape = call.ints(1, "shape")
    try:
        shape = np.broadcast_shapes(call.type(0).shape, shape)
    except ValueError:
        raise Refusal(f"{call.type(0)} does not broadcast to shape {shape}") from None
    return call.op("broadcast", call[0], shape=shape)


@LAYOUT.of("Tile", but="repeats that the model computes")
def _tile(call: Call) -> str:
    repeats, shape = call.ints(1, "repeats"), call.type(0).shape
    expect(
        len(repeats) == len(shape) and min(repeats, default=0) >= 0,
        f"its repeats are {repeats} of {call.type(0)}",
    )
    apart = [part for size in shape for part in (1, size)]
    wide = [part for size, times in zip(shape, repeats, strict=True) for part in (times, size)]
    found = call.op("broadcast", call.reshape(call[0], apart), shape=tuple(wide))
    return call.reshape(found, [a * b for a, b in zip(shape, repeats, strict=True)])


@LAYOUT.of("Concat")
def _concat(call: Call) -> str:
    axis = normalized_axis(call.attribute("axis"), call.type(0).rank)
    parts = call.all()
    # Exporters write empty tensors of one axis among them.
    kept = [part for part in parts if call.build.type(part).shape != (0,)]
    return call.op("concat", *(kept or parts[:1]), axis=axis)


@LAYOUT.of("Split", but="sizes that the model computes")
def _split(call: Call) -> list[str]:
    kind, count = call.type(0), len(call.node.output)
    axis = normalized_axis(call.attribute("axis", 0), kind.rank)
    asked = call.attribute("num_outputs", count) if call.version >= 18 else count
    expect(asked == count, f"it has {count} outputs, not {asked}")
    if call.version < 13:
        sizes = call.attribute("split", None)
    else:
        sizes = None if call.optional(1) is None else call.ints(1, "split")
    if sizes is None:
        each = -(-kind.shape[axis] // asked)
        sizes = [max(0, min(each, kind.shape[axis] - i * each)) for i in range(asked)]
    expect(
        sum(sizes) == kind.shape[axis] and len(sizes) == count and min(sizes) >= 0,
        f"its {count} parts {tuple(sizes)} are not axis {axis} of {kind}",
    )
    starts = np.cumsum([0, *sizes])
    return [part(call, call[0], axis, int(starts[i]), size) for i, size in enumerate(sizes)]


def part(call: Call, x: str, axis: int, start: int, size: int, step: int = 1) -> str:
    """Some elements of one axis of `x`, and all of the others."""
    shape = call.build.type(x).shape
    return call.op(
        "slice",
        x,
        starts=tuple(start if a == axis else 0 for a in range(len(shape))),
        sizes=tuple(size if a == axis else full for a, full in enumerate(shape)),
        steps=tuple(step if a == axis else 1 for a in range(len(shape))),
    )


@LAYOUT.of("Slice", but="places that the model computes")
def _slice(call: Call) -> str:
    shape = call.type(0).shape
    starts, ends = call.ints(1, "starts"), call.ints(2, "ends")
    given = call.optional(3) is not None
    axes = call.ints(3, "axes") if given else tuple(range(len(starts)))
    steps = call.ints(4, "steps") if call.optional(4) is not None else (1,) * len(starts)
    expect(
        len(starts) == len(ends) == len(axes) == len(steps) and 0 not in steps,
        f"its starts {starts}, ends {ends}, axes {axes} and steps {steps} do not fit",
    )
    found = call[0]
    places = [normalized_axis(axis, len(shape)) for axis in axes]
    for axis, start, end, step in zip(places, starts, ends, steps, strict=True):
        kept = range(*slice(start, end, step).indices(shape[axis]))
        found = part(call, found, axis, kept.start if kept else 0, len(kept), step)
    return found


_MODES: Final[Mapping[str, Literal["edge", "reflect", "wrap"]]] = {
    "edge": "edge",
    "reflect": "reflect",
    "wrap": "wrap",
}


@LAYOUT.of("Pad", but="pads that the model computes")
def _pad(call: Call) -> str:
    x, rank, mode = call[0], call.type(0).rank, call.attribute("mode", "constant")
    pads = call.ints(1, "pads")
    given = call.optional(3) is not None
    axes = [a % rank for a in call.ints(3, "axes")] if given else list(range(rank))
    expect(len(pads) == 2 * len(axes), f"its pads {pads} are not two for each axis of {axes}")
    both = np.zeros((2, rank), np.int64)
    both[:, axes] = np.reshape(pads, (2, -1))
    for axis, (before, after) in enumerate((-np.minimum(both, 0)).T):
        size = call.build.type(x).shape[axis] - before - after
        x = part(call, x, axis, int(before), max(int(size), 0))
    before, after = np.maximum(both, 0)
    if mode == "constant":
        value = call.optional(2) or call.scalar(0, x)
        if call.build.type(value).rank:
            value = call.reshape(value, ())
        return call.op(
            "pad", x, value, before=tuple(map(int, before)), after=tuple(map(int, after))
        )
    if mode not in _MODES:
        raise Refusal(f"its mode {mode!r} is not supported")
    call.optional(2)
    for axis in range(rank):
        places = np.arange(call.build.type(x).shape[axis])
        if before[axis] or after[axis]:
            places = np.pad(places, (before[axis], after[axis]), mode=_MODES[mode])
            x = call.op("gather", x, call.indices(places), axis=axis)
    return x


@LAYOUT.of("DepthToSpace")
def _depth_to_space(call: Call) -> str:
    batch, channels, rows, cols = call.type(0).shape
    size, mode = call.attribute("blocksize"), call.attribute("mode", "DCR")
    rest = channels // (size * size)
    if mode == "DCR":
        apart, order = (batch, size, size, rest, rows, cols), (0, 3, 4, 1, 5, 2)
    else:
        apart, order = (batch, rest, size, size, rows, cols), (0, 1, 4, 2, 5, 3)
    found = call.op("transpose", call.reshape(call[0], apart), permutation=order)
    return call.reshape(found, (batch, rest, rows * size, cols * size))


@LAYOUT.of("SpaceToDepth")
def _space_to_depth(call: Call) -> str:
    batch, channels, rows, cols = call.type(0).shape
    size = call.attribute("blocksize")
    order = (0, 3, 5, 1, 2, 4) if call.attribute("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    apart = (batch, channels, rows // size, size, cols // size, size)
    found = call.op("transpose", call.reshape(call[0], apart), permutation=order)
    return call.reshape(found, (batch, channels * size * size, rows // size, cols // size))


@LAYOUT.of("Trilu", but="a diagonal that the model computes")
def _trilu(call: Call) -> str:
    kind, upper = call.type(0), bool(call.attribute("upper", 1))
    diagonal = 0 if call.optional(1) is None else int(call.known(1, "diagonal").reshape(()))
    rows, cols = np.ogrid[: kind.shape[-2], : kind.shape[-1]]
    kept = cols - rows >= diagonal if upper else cols - rows <= diagonal
    return call.op("where", call.build.constant(kept), call[0], call.scalar(0, call[0]))
