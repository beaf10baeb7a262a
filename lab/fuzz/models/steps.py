"""The steps of random models: an operator, or a few, behind a tensor.

A step returns None for a tensor that it does not fit.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from celosia.lab.fuzz.models.drawing import Drawing, Tensor

__all__ = ["STEPS", "Step", "product"]

Step = Callable[[Drawing, Tensor], Tensor | None]

_WIDTHS: Final = (1, 4, 6, 8, 12, 16)
_MOST_REPEATED: Final = 300
"""Elements of tensors that are still repeated."""
_REDUCED_BY_ATTRIBUTE: Final = 18
"""The version from which on the axes of a mean and of a maximum are an operand."""
_NORMALIZED: Final = 17
"""The version from which on there is LayerNormalization."""


def product(g: Drawing, x: Tensor) -> Tensor | None:
    """A product with weights, mostly with a bias."""
    if not x.rank:
        return None
    inner, cols = x.shape[-1], g.pick(*_WIDTHS)
    shape = (*x.shape[:-1], cols)
    found = g.op("MatMul", shape, x, g.normal(inner, cols, scale=inner**-0.5))
    if g.chance(0.6):
        found = g.op("Add", shape, found, g.normal(*g.pick((cols,), (1,), ()), scale=0.2))
    return found


def gemm(g: Drawing, x: Tensor) -> Tensor | None:
    """A product of matrices, either of them transposed, with a factor."""
    if x.rank != 2:
        return None
    turned, other = g.chance(), g.chance()
    rows, inner = x.shape[::-1] if turned else x.shape
    cols = g.pick(4, 8)
    weights = g.normal(*((cols, inner) if other else (inner, cols)), scale=0.4)
    bias = [g.normal(cols)] if g.chance() else []
    how = {"transA": int(turned), "transB": int(other), "alpha": g.pick(1.0, 0.5)}
    return g.op("Gemm", (rows, cols), x, weights, *bias, **how)


def gram(g: Drawing, x: Tensor) -> Tensor | None:
    """A tensor times itself, transposed."""
    if x.rank < 2:
        return None
    order = (*range(x.rank - 2), x.rank - 1, x.rank - 2)
    turned = g.op("Transpose", tuple(x.shape[axis] for axis in order), x, perm=order)
    shape = (*x.shape[:-1], x.shape[-2])
    return g.op("Mul", shape, g.op("MatMul", shape, x, turned.name), g.constant(1 / x.shape[-1]))


def transpose(g: Drawing, x: Tensor) -> Tensor | None:
    """Axes in another order."""
    if not x.rank:
        return None
    order = [int(axis) for axis in g.random.permutation(x.rank)]
    return g.op("Transpose", tuple(x.shape[axis] for axis in order), x, perm=order)


def reshape(g: Drawing, x: Tensor) -> Tensor | None:
    """The same elements along two or three axes, one of which may be left open."""
    first = g.pick(*_divisors(x.size))
    second = g.pick(*_divisors(x.size // first))
    shape = g.pick((first, second, x.size // first // second), (first, x.size // first))
    asked = list(shape)
    if g.chance():
        asked[g.below(len(asked))] = -1
    return g.op("Reshape", shape, x, g.ints(*asked))


def flatten(g: Drawing, x: Tensor) -> Tensor | None:
    """Two axes of all."""
    axis = g.below(x.rank + 1)
    rows = int(np.prod(x.shape[:axis]))
    return g.op("Flatten", (rows, x.size // rows), x, axis=axis)


def gather(g: Drawing, x: Tensor) -> Tensor | None:
    """Some places of an axis: a number, a list or a matrix of them, or all in another order."""
    if not x.rank:
        return None
    axis = g.axis(x)
    size = x.shape[axis]
    shape = g.pick((), (), (g.below(size + 2, 1),), (g.below(3, 1), g.below(4, 1)))
    places = g.random.integers(-size, size, shape)
    if g.chance(0.2):
        places = g.random.permutation(size)
    indices = g.constant(places, g.pick(np.int64, np.int32))
    return g.op("Gather", x.resized(axis, *np.shape(places)), x, indices, axis=g.signed(axis, x))


def cut(g: Drawing, x: Tensor) -> Tensor | None:
    """A slice of an axis, its ends counted from either end, or with a step."""
    if not x.rank:
        return None
    axis = g.axis(x)
    size = x.shape[axis]
    start, step = g.below(size), g.pick(1, 1, 2, 3, -1, -2)
    end = g.below(size + 1, start + 1) if step > 0 else -size - 1
    count = len(range(size)[slice(start, end if step > 0 else None, step)])
    start = start - size if g.chance(0.3) else start
    operands = (g.ints(start), g.ints(end), g.ints(g.signed(axis, x)), g.ints(step))
    return g.op("Slice", x.resized(axis, count), x, *operands)


def split(g: Drawing, x: Tensor) -> Tensor | None:
    """Two parts of an axis, one of which may be read later."""
    axis = g.axis(x) if x.rank else 0
    if not x.rank or x.shape[axis] < 2:
        return None
    first = g.below(x.shape[axis], 1)
    sizes = (first, x.shape[axis] - first)
    shapes = tuple(x.resized(axis, size) for size in sizes)
    parts = g.several("Split", shapes, x, g.ints(*sizes), axis=g.signed(axis, x))
    g.tensors.append(parts[0])
    return parts[1]


def concat(g: Drawing, x: Tensor) -> Tensor | None:
    """A tensor beside itself, or beside another one."""
    if not x.rank:
        return None
    axis = g.axis(x)
    fitting = [y for y in g.tensors if y.rank == x.rank and y.resized(axis) == x.resized(axis)]
    other = g.pick(x, *fitting)
    first, second = g.pick((x, other), (other, x))
    shape = x.resized(axis, x.shape[axis] + other.shape[axis])
    return g.op("Concat", shape, first, second.name, axis=g.signed(axis, x))


def unsqueeze(g: Drawing, x: Tensor) -> Tensor | None:
    """One more axis."""
    if x.rank > 4:
        return None
    place = g.below(x.rank + 1)
    shape = (*x.shape[:place], 1, *x.shape[place:])
    return g.op("Unsqueeze", shape, x, g.ints(g.pick(place, place - x.rank - 1)))


def squeeze(g: Drawing, x: Tensor) -> Tensor | None:
    """One axis of size 1 less."""
    if 1 not in x.shape:
        return None
    axis = x.shape.index(1)
    return g.op("Squeeze", x.resized(axis), x, g.ints(g.signed(axis, x)))


def repeat(g: Drawing, x: Tensor) -> Tensor | None:
    """A tensor again and again, along a new axis or along one of its own."""
    if x.size > _MOST_REPEATED or x.rank > 4:
        return None
    if g.chance() or not x.rank:
        shape = (g.below(4, 1), *x.shape)
        return g.op("Expand", shape, x, g.ints(*shape))
    axis = g.axis(x)
    times = [2 if each == axis else 1 for each in range(x.rank)]
    return g.op("Tile", x.resized(axis, 2 * x.shape[axis]), x, g.ints(*times))


def pad(g: Drawing, x: Tensor) -> Tensor | None:
    """Zeros before and behind."""
    if not x.rank:
        return None
    axis, before, behind = g.axis(x), g.below(3), g.below(3)
    pads = [0] * (2 * x.rank)
    pads[axis], pads[x.rank + axis] = before, behind
    return g.op("Pad", x.resized(axis, x.shape[axis] + before + behind), x, g.ints(*pads))


def reduce(g: Drawing, x: Tensor) -> Tensor | None:
    """A mean, a sum or a maximum along an axis."""
    if not x.rank:
        return None
    axis, keep = g.axis(x), g.below(2)
    kind, shape = g.pick("ReduceMean", "ReduceSum", "ReduceMax"), x.resized(axis, *[1] * keep)
    signed = g.signed(axis, x)
    if g.opset < _REDUCED_BY_ATTRIBUTE and kind != "ReduceSum":
        return g.op(kind, shape, x, axes=[signed], keepdims=keep)
    return g.op(kind, shape, x, g.ints(signed), keepdims=keep)


def softmax(g: Drawing, x: Tensor) -> Tensor | None:
    """Shares along an axis."""
    return g.op("Softmax", x.shape, x, axis=g.signed(g.axis(x), x)) if x.rank else None


def norm(g: Drawing, x: Tensor) -> Tensor | None:
    """Rows of mean 0 and variance 1, of three elements or more."""
    if not x.rank or x.shape[-1] < 3 or g.opset < _NORMALIZED:
        return None
    vectors = [g.normal(x.shape[-1]) for _ in range(g.below(3, 1))]
    return g.op("LayerNormalization", x.shape, x, *vectors)


def curve(g: Drawing, x: Tensor) -> Tensor | None:
    """A function of each element."""
    kind = g.pick("Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Erf", "Clip", "Gelu")
    if kind == "Clip":
        return g.op(kind, x.shape, x, g.constant(-1), g.constant(1.5))
    if kind != "Gelu":
        return g.op(kind, x.shape, x)
    inner = g.op("Erf", x.shape, g.op("Div", x.shape, x, g.constant(2**0.5)))
    half = g.op("Mul", x.shape, x, g.constant(0.5))
    return g.op("Mul", x.shape, g.op("Add", x.shape, inner, g.constant(1)), half.name)


def known(g: Drawing, x: Tensor) -> Tensor | None:
    """A sum, a difference or a product with something known that broadcasts, or a choice."""
    shape = tuple(g.pick(1, size) for size in x.shape)
    if g.chance(0.2):
        chosen = g.constant(g.random.random(shape) < 0.7, np.bool_)
        found = g.several("Where", (x.shape,), Tensor(chosen, shape), x.name, g.constant(0.5))
        return found[0]
    shape = shape[g.below(x.rank + 1) :]
    return g.op(g.pick("Add", "Sub", "Mul"), x.shape, x, g.normal(*shape))


def both(g: Drawing, x: Tensor) -> Tensor | None:
    """A sum, a difference or a product with a tensor of before."""
    fitting = [each for each in g.tensors if each.shape == x.shape and each != x]
    if not fitting:
        return None
    first, second = g.pick((x, fitting[-1]), (fitting[-1], x))
    return g.op(g.pick("Add", "Sub", "Mul"), x.shape, first, second.name)


def attention(g: Drawing, x: Tensor) -> Tensor | None:
    """Attention of one or two heads, causal or not, to eight or sixteen columns."""
    if x.rank != 3:
        return None
    batch, rows, inner = x.shape
    heads, cols = g.pick(1, 2), g.pick(8, 16)
    width, whole = cols // heads, (batch, heads, rows, cols // heads)

    def head(*order: int) -> Tensor:
        weights = g.normal(inner, cols, scale=inner**-0.5)
        made = g.op("MatMul", (batch, rows, cols), x, weights)
        apart = (batch, rows, heads, width)
        made = g.op("Reshape", apart, made, g.ints(*apart))
        return g.op("Transpose", tuple(apart[axis] for axis in order), made, perm=order)

    square = (batch, heads, rows, rows)
    scores = g.op("MatMul", square, head(0, 2, 1, 3), head(0, 2, 3, 1).name)
    scores = g.op("Mul", square, scores, g.constant(width**-0.5))
    if g.chance(0.4):
        hidden = np.triu(np.full((rows, rows), -1e9, np.float32), 1)
        scores = g.op("Add", square, scores, g.constant(hidden))
    shares = g.op("Softmax", square, scores, axis=-1)
    context = g.op("MatMul", whole, shares, head(0, 2, 1, 3).name)
    turned = g.op("Transpose", (batch, rows, heads, width), context, perm=(0, 2, 1, 3))
    return g.op("Reshape", (batch, rows, cols), turned, g.ints(batch, rows, cols))


def _divisors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]


STEPS: Final[tuple[Step, ...]] = (
    *(product, gemm, gram, attention, transpose, reshape, flatten, gather, gather, cut, cut),
    *(split, concat, unsqueeze, squeeze, repeat, pad, reduce, softmax, norm, curve, known, both),
)
"""All steps; what stands twice is drawn more often."""
