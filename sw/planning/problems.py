"""Products as graphs of one operator, and back."""

from celosia.sw.ir.graph import Graph, MatMul, Requantize, Sums, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.matmul import MatMul as Problem
from celosia.sw.ir.matmul import verify
from celosia.sw.planning.verify import PlanError

__all__ = ["graph_of", "problem_of"]


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


def problem_of(op: MatMul, graph: Graph) -> Problem:
    """`op` as a problem of the schedule's search; raises `PlanError` if MVOUT cannot finish it."""
    match op.finish:
        case Sums():
            scale, relu = None, False
        case Requantize(float() | int() as scale, 0, relu) if (
            graph.tensors[op.out.tensor].type == "int8"
        ):
            pass
        case finish:
            raise PlanError("drain", op.name, f"mvout does not do {finish}")
    return Problem(
        m=op.out.rows,
        n=op.out.cols,
        k=op.a.cols,
        a_unsigned=graph.tensors[op.a.tensor].type == "uint8",
        b_transposed=op.b_transposed,
        bias=op.bias is not None,
        scale=scale,
        relu=relu,
    )
