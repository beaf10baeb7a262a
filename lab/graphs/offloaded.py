"""A graph whose accelerator has products only: everything between them is a host's work."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    Combination,
    DeferredSoftmax,
    DivideBySums,
    Graph,
    LayerNorm,
    MatMul,
    Op,
    Requantize,
    Sums,
    Tensor,
    View,
)

__all__ = ["host_elements", "offloaded"]


def offloaded(graph: Graph) -> Graph:
    """The products of `graph`, without biases, whose int32 sums all go to memory.

    Their operands are inputs: those that operators of `graph` compute come back from the host.
    """
    ops: list[Op] = []
    tensors: dict[str, Tensor] = {}
    for op in graph.ops:
        if isinstance(op, MatMul):
            name = f"{op.name}.int32"
            tensors[name] = Tensor(name, "int32", op.out.rows, op.out.cols)
            out = View(name, 0, 0, op.out.rows, op.out.cols)
            ops.append(replace(op, out=out, bias=None, finish=Sums()))
    read = {view.tensor for op in ops if isinstance(op, MatMul) for view in (op.a, op.b)}
    given = {name: tensor for name, tensor in graph.tensors.items() if name in read}
    constants = {name: value for name, value in graph.constants.items() if name in read}
    return Graph(
        name=f"{graph.name}, products only",
        tensors={**given, **tensors},
        inputs=tuple(name for name in given if name not in constants),
        outputs=tuple(tensors),
        ops=tuple(ops),
        constants=constants,
    )


def host_elements(graph: Graph, *, gelu_by: Collection[str] = ()) -> Mapping[str, int]:
    """Elements that a host works on instead, by the kind of work.

    ``quantize`` are those that become floating-point numbers before it and integers behind it.
    Functions that GELU is computed `gelu_by` on the accelerator are GELU on the host.
    """
    count: Counter[str] = Counter()
    for op in graph.ops:
        if isinstance(op, LayerNorm):
            count["layernorm"] += op.source.rows * op.source.cols
            continue
        if isinstance(op, Combination):
            count[op.instruction.name.lower()] += op.out.rows * op.out.cols
            continue
        size = op.out.rows * op.out.cols
        match op.finish:
            case DeferredSoftmax():
                count["softmax"] += size
                count["quantize"] += size
            case Activation(function=function):
                count["gelu" if function in gelu_by else function] += size
                count["quantize"] += size
            case AddResidual():
                count["residual"] += size
                count["quantize"] += size
            case Requantize() | DivideBySums():
                count["quantize"] += size
            case _:
                pass
    return count
