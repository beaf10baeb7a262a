"""Workloads that are products: of files, of random numbers, of a model's first layer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Final

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import ALIGNMENT
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.operands import (
    Operands,
    fitting_scale,
    load_operands,
    parse_shape,
    random_operands,
)
from celosia.sim.workloads.texts import text_problems
from celosia.sim.workloads.workload_options import WorkloadOptions
from celosia.sw.driver.program_file import MAX_MEMORY_BYTES
from celosia.sw.ir.matmul import MatMul, verify
from celosia.sw.passes.short_scales import short_scale

__all__ = ["MEMORY_STEP", "Operator", "device_bytes", "matmul", "minilm_linears"]

MEMORY_STEP: Final = 1 << 20
"""Bytes that a device's memory is a multiple of."""
_OUT_TYPES: Final = (None, "int8", "int32")


@dataclass(frozen=True)
class Operator:
    """A product with a name."""

    name: str
    operands: Operands

    def with_short_scale(self, config: AcceleratorConfig) -> "Operator":
        """The same with a scale that `config` takes."""
        problem = self.operands.problem
        if problem.scale is None:
            return self
        problem = replace(problem, scale=short_scale(problem.scale, config))
        return replace(self, operands=replace(self.operands, problem=problem))


def device_bytes(operators: Iterable[Operator]) -> int:
    """Bytes of device memory that the largest of `operators` needs, in whole MiB."""
    largest = max(_bytes(operator.operands.problem) for operator in operators)
    return -(-largest // MEMORY_STEP) * MEMORY_STEP


def _bytes(problem: MatMul) -> int:
    """Bytes of all arrays of `problem`, each aligned."""
    sizes = (
        problem.m * problem.k,
        problem.k * problem.n,
        4 * problem.n,
        problem.m * problem.n * problem.c_bytes,
    )
    return sum(size + ALIGNMENT for size in sizes)


def matmul(options: WorkloadOptions, seed: int) -> Sequence[Operator]:
    """One product, of files or of random numbers."""
    if options.a or options.b:
        operands = _matmul_of_files(options)
    else:
        operands = _random_matmul(options, seed)
    return [Operator("matmul", operands)]


def _matmul_of_files(options: WorkloadOptions) -> Operands:
    if options.a is None or options.b is None:
        missing = "--a" if options.a is None else "--b"
        raise InputError(f"{missing} is missing: --a and --b go together")
    if options.shape is not None:
        raise InputError(f"--shape {options.shape}: not with --a and --b, which have their own")
    form = _form(options, 1.0)
    operands = load_operands(form, options.a, options.b, options.bias)
    if (size := _bytes(operands.problem)) > MAX_MEMORY_BYTES:
        raise InputError(f"--a, --b: {_too_large(size)}")
    return operands


def _random_matmul(options: WorkloadOptions, seed: int) -> Operands:
    if options.shape is None:
        raise InputError("matmul: give --shape MxNxK, or --a A.npy and --b B.npy")
    if options.bias is not None:
        raise InputError(f"--bias {options.bias}: only with --a and --b; --shape has a random bias")
    m, n, k = parse_shape(options.shape)
    form = replace(_form(options, fitting_scale(max(k, 1))), m=m, n=n, k=k, bias=True)
    try:
        verify(form)
    except ValueError as error:
        raise InputError(f"--shape {options.shape}: {error}") from None
    if (size := _bytes(form)) > MAX_MEMORY_BYTES:
        raise InputError(f"--shape {options.shape}: {_too_large(size)}")
    return random_operands(form, seed)


def _too_large(size: int) -> str:
    return (
        f"operands and result are {size:,} bytes, more than the {MAX_MEMORY_BYTES:,} of the "
        "largest memory"
    )


def _form(options: WorkloadOptions, default_scale: float) -> MatMul:
    """The product that `options` describe, its shape and operand types apart."""
    if options.out_type not in _OUT_TYPES:
        raise InputError(f"--out-type {options.out_type}: matmul has int8 and int32")
    wide = options.out_type == "int32"
    if wide and options.scale is not None:
        raise InputError(f"--scale {options.scale}: int32 results are not scaled")
    if wide and options.relu:
        raise InputError("--relu: int32 results are not activated")
    scale = default_scale if options.scale is None else options.scale
    with np.errstate(over="ignore"):
        if not np.isfinite(np.float32(scale)):
            raise InputError(f"--scale {scale}: must be a finite float32")
    return MatMul(
        m=1,
        n=1,
        k=1,
        a_unsigned=options.unsigned_a,
        b_transposed=options.transpose_b,
        scale=None if wide else scale,
        relu=options.relu,
    )


def minilm_linears(options: WorkloadOptions, _seed: int) -> Sequence[Operator]:
    """The products of the first layer of the published model, of one text's activations."""
    if len(options.text) > 1:
        raise InputError(f"--text: {len(options.text)} texts; minilm-linears takes one")
    # Loaded when it is asked for: reading a model needs packages that nothing else does.
    minilm = import_module("celosia.sw.models.minilm")
    with text_problems(options.text):
        products = minilm.linear_products(*options.text)
    return [
        Operator(product.name, Operands(product.problem, product.a, product.b, product.bias))
        for product in products
    ]
