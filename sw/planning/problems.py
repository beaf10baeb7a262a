"""Products as graphs of one operator."""

from celosia.sw.ir.graph import Graph, Requantize, Sums, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.matmul import MatMul as Problem
from celosia.sw.ir.matmul import verify

__all__ = ["graph_of"]


def graph_of(name: str, problem: Problem) -> Graph:
    """`problem` as a graph of this name: inputs ``a``, ``b`` and perhaps ``bias``, output ``c``.

    Raises `ValueError` if it cannot be computed.
    """
    verify(problem)
    builder = GraphBuilder(name)
    kind = "uint8" if problem.a_unsigned else "int8"
    a = builder.input(Tensor("a", kind, problem.m, problem.k))
    b = builder.input(Tensor("b", "int8", *problem.b_shape))
    bias = builder.input(Tensor("bias", "int32", 1, problem.n)) if problem.bias else None
    out = "int32" if problem.scale is None else "int8"
    c = builder.tensor(Tensor("c", out, problem.m, problem.n))
    finish = Sums() if problem.scale is None else Requantize(problem.scale, relu=problem.relu)
    builder.matmul(name, c, a, b, finish, bias=bias, b_transposed=problem.b_transposed)
    return builder.finish("c")
