"""Operators of ONNX whose results are known as soon as all sizes are."""

from math import ceil
from typing import Final

import numpy as np

from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.importer.source.tensors import graph_dtype
from celosia.sw.frontend.nn.operators.operator import expect

__all__ = ["SHAPES"]

SHAPES: Final = Handlers()


@SHAPES.of("Shape")
def _shape(call: Call) -> str:
    shape = call.type(0).shape
    return call.indices(shape[call.attribute("start", 0) : call.attribute("end", len(shape))])


@SHAPES.of("Size")
def _size(call: Call) -> str:
    return call.indices(call.type(0).size)


@SHAPES.of("Constant", but="strings and sparse tensors")
def _constant(call: Call) -> str:
    for name, dtype in (
        ("value", None),
        ("value_float", np.float32),
        ("value_floats", np.float32),
        ("value_int", np.int64),
        ("value_ints", np.int64),
    ):
        value = call.attribute(name, None)
        if value is not None:
            return call.build.constant(np.asarray(value, dtype), call.name)
    raise Refusal("its value is neither a tensor nor numbers")


@SHAPES.of("ConstantOfShape", but="a shape that the model computes")
def _constant_of_shape(call: Call) -> str:
    value = call.attribute("value", None)
    value = np.zeros((), np.float32) if value is None else value.reshape(())
    shape = call.ints(0, "shape")
    expect(min(shape, default=0) >= 0, f"its shape is {shape}")
    return call.op("broadcast", call.build.constant(value), shape=shape)


@SHAPES.of("Range", but="limits that the model computes")
def _range(call: Call) -> str:
    start, limit, step = (call.known(i, "range").reshape(()) for i in range(3))
    expect(bool(step), f"a range from {start} to {limit} by {step} has no end")
    if start.dtype.kind == "f":
        count = max(0, ceil((float(limit) - float(start)) / float(step)))
    else:
        count = len(range(int(start), int(limit), int(step)))
    expect(count * start.dtype.itemsize <= 1 << 30, f"it has {count} elements")
    return call.build.constant((start + np.arange(count) * step).astype(start.dtype), call.name)


@SHAPES.of("EyeLike")
def _eye_like(call: Call) -> str:
    kind, to = call.type(0), call.attribute("dtype", None)
    dtype = kind.dtype if to is None else graph_dtype(to)
    expect(kind.rank == 2, f"{kind} is no matrix")
    return call.build.constant(
        np.eye(kind.shape[0], kind.shape[1], call.attribute("k", 0), dtype=dtype), call.name
    )


@SHAPES.of("NonZero", but="values that the model computes")
def _non_zero(call: Call) -> str:
    return call.build.constant(
        np.stack(np.nonzero(call.known(0, "operand"))).astype(np.int64), call.name
    )
