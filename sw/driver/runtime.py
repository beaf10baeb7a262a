"""Compile, load, run, read back: the entry point for programs in Python.

    import numpy as np
    from celosia.isa.presets import resolve_config
    from celosia.sim.devices.functional import FunctionalDevice
    from celosia.sw.driver.runtime import matmul

    device = FunctionalDevice(resolve_config("base"))
    a = np.random.default_rng(0).integers(-128, 128, (100, 60), dtype=np.int8)
    b = np.random.default_rng(1).integers(-128, 128, (60, 40), dtype=np.int8)
    c, result = matmul(device, a, b, scale=0.004, relu=True)
    print(c.shape, c.dtype, result.cycles)
    device.close()

Any other `Device` takes the place of the functional one; only the constructor differs.
"""

from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import numpy as np

from celosia.isa.encoding import Command
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.passes import Encode
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.buffers import Buffer, BufferRuleError, Buffers
from celosia.sw.driver.device import Device, Issue, RunResult
from celosia.sw.ir.matmul import MatMul, verify
from celosia.sw.passes.place_tensors import place_tensors
from celosia.sw.passes.short_scales import short_scale
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.problems import graph_of
from celosia.sw.timeline.graphs import GraphCycles

__all__ = ["Compiled", "ProductForm", "compile_product", "describe_product", "matmul"]


class ProductForm(TypedDict, total=False):
    """What operands alone do not say about a product."""

    scale: float | None
    """C is int8, requantized by this float32, or by the nearest one of the device's `scale_bits`;
    None (the default): C is int32."""
    relu: bool
    """Negative results become 0 (int8 only)."""
    transpose_b: bool
    """B is given as N x K."""


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A product that is ready to run: commands, and arrays in device memory."""

    problem: MatMul
    commands: tuple[Command, ...]
    plan: Plan
    prediction: GraphCycles
    buffers: Buffers
    a: Buffer
    b: Buffer
    bias: Buffer | None
    c: Buffer

    def load(self, a: np.ndarray, b: np.ndarray, bias: np.ndarray | None = None) -> None:
        """Copy the operands into device memory, and poison the result."""
        self.buffers.upload(self.a, a)
        self.buffers.upload(self.b, b)
        if (bias is None) != (self.bias is None):
            given = "missing" if bias is None else "not expected"
            raise BufferRuleError(f"bias: {given} in {self.problem}")
        if bias is not None and self.bias is not None:
            self.buffers.upload(self.bias, bias)
        self.buffers.poison(self.c)

    def run(self, issue: Issue = "stream") -> RunResult:
        """Run the commands on the device."""
        return self.buffers.device.run(self.commands, issue)

    def result(self) -> np.ndarray:
        """C as it stands in device memory."""
        return self.buffers.download(self.c)


def matmul(
    device: Device,
    a: np.ndarray,
    b: np.ndarray,
    bias: np.ndarray | None = None,
    *,
    timing: MemoryTiming | None = None,
    issue: Issue = "stream",
    **form: Unpack[ProductForm],
) -> tuple[np.ndarray, RunResult]:
    """``act(scale * (a @ b + bias))`` as int8, or without a scale ``a @ b + bias`` as int32.

    `a` is M x K int8 or uint8; `b` is int8, K x N, or N x K with `transpose_b`; `bias` is N int32.
    `timing` of the device's memory lets the compiler choose tiles for it; `issue` is how commands
    reach the accelerator.  Raises `ValueError` for operands that break a rule, `DeviceError` when
    the accelerator stops.
    """
    problem = describe_product(a, b, bias, **form)
    compiled = compile_product(device, problem, timing=timing)
    compiled.load(a, b, bias)
    result = compiled.run(issue)
    return compiled.result(), result


def describe_product(
    a: np.ndarray,
    b: np.ndarray,
    bias: np.ndarray | None = None,
    **form: Unpack[ProductForm],
) -> MatMul:
    """The product of these operands as a problem.  Raises `ValueError` that names the operand."""
    transpose_b = form.get("transpose_b", False)
    _check_operand("a", a, ("int8", "uint8"), 2)
    _check_operand("b", b, ("int8",), 2)
    (m, k), (b_k, n) = a.shape, b.shape[::-1] if transpose_b else b.shape
    if k != b_k:
        order = "N x K" if transpose_b else "K x N"
        raise ValueError(f"b: {b.shape} is not {order} with K = {k}, the columns of a {a.shape}")
    if bias is not None:
        _check_operand("bias", bias, ("int32",), 1)
        if bias.shape != (n,):
            raise ValueError(f"bias: {bias.shape} is not one element for each of {n} columns")
    return verify(
        MatMul(
            m=m,
            n=n,
            k=k,
            a_unsigned=a.dtype == np.uint8,
            b_transposed=transpose_b,
            bias=bias is not None,
            scale=form.get("scale"),
            relu=form.get("relu", False),
        )
    )


def compile_product(
    device: Device,
    problem: MatMul,
    *,
    buffers: Buffers | None = None,
    plan: Plan | None = None,
    timing: MemoryTiming | None = None,
    name: str = "matmul",
) -> Compiled:
    """Commands and arrays for `problem` on `device`, computed as `plan` says.

    A plan is of a graph called `name`; without one, the best that is found for the memory's
    `timing` is taken.  The arrays are placed behind those of `buffers`, if there are any.  Raises
    `ValueError` if the problem cannot be computed, or does not fit the device's memory.
    """
    config = device.config
    if problem.scale is not None:
        problem = replace(problem, scale=short_scale(problem.scale, config))
    graph = graph_of(name, problem)
    buffers = buffers or Buffers(device)
    base = buffers.next_address()
    addresses, _ = place_tensors(graph.tensors.values(), base)
    arrays = {}
    for each, tensor in graph.tensors.items():
        shape = (tensor.cols,) if each == "bias" else tensor.shape
        arrays[each] = buffers.place(each, addresses[each], shape, tensor.type)
    memory = timing or MemoryTiming()
    compiled = compile_graph(graph, config, Decide(plan), Encode(base=base), timing=memory)
    return Compiled(
        problem=problem,
        commands=compiled.program,
        plan=compiled.plan,
        prediction=compiled.expected(timing),
        buffers=buffers,
        a=arrays["a"],
        b=arrays["b"],
        bias=arrays.get("bias"),
        c=arrays["c"],
    )


def _check_operand(name: str, array: np.ndarray, types: tuple[str, ...], dimensions: int) -> None:
    if array.dtype.name not in types:
        raise ValueError(f"{name}: elements are {array.dtype}, not {' or '.join(types)}")
    if array.ndim != dimensions or 0 in array.shape:
        raise ValueError(
            f"{name}: shape {array.shape} has not {dimensions} dimensions of 1 or more"
        )
