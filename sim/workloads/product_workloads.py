"""Workloads that are products: of files, of random numbers, of a model's first layer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Final

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import ALIGNMENT
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.details import Linears, Matmul, OperandFiles, ProductForm
from celosia.sim.workloads.operands import (
    Operands,
    fitting_scale,
    load_operands,
    parse_shape,
    random_operands,
)
from celosia.sim.workloads.texts import text_problems
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


def matmul(details: Matmul, seed: int) -> Sequence[Operator]:
    """One product, of files or of random numbers."""
    if details.files.a or details.files.b:
        operands = _matmul_of_files(details.files, details)
    else:
        operands = _random_matmul(details, seed)
    return [Operator("matmul", operands)]


def _matmul_of_files(files: OperandFiles, details: Matmul) -> Operands:
    if files.a is None or files.b is None:
        missing = "--a" if files.a is None else "--b"
        raise InputError(f"{missing} is missing: --a and --b go together")
    if details.shape is not None:
        raise InputError(f"--shape {details.shape}: not with --a and --b, which have their own")
    form = _form(details.form, 1.0)
    operands = load_operands(form, files.a, files.b, files.bias)
    if (size := _bytes(operands.problem)) > MAX_MEMORY_BYTES:
        raise InputError(f"--a, --b: {_too_large(size)}")
    return operands


def _random_matmul(details: Matmul, seed: int) -> Operands:
    if details.shape is None:
        raise InputError("matmul: give --shape MxNxK, or --a A.npy and --b B.npy")
    bias = details.files.bias
    if bias is not None:
        raise InputError(f"--bias {bias}: only with --a and --b; --shape has a random bias")
    m, n, k = parse_shape(details.shape)
    form = replace(_form(details.form, fitting_scale(max(k, 1))), m=m, n=n, k=k, bias=True)
    try:
        verify(form)
    except ValueError as error:
        raise InputError(f"--shape {details.shape}: {error}") from None
    if (size := _bytes(form)) > MAX_MEMORY_BYTES:
        raise InputError(f"--shape {details.shape}: {_too_large(size)}")
    return random_operands(form, seed)


def _too_large(size: int) -> str:
    return (
        f"operands and result are {size:,} bytes, more than the {MAX_MEMORY_BYTES:,} of the "
        "largest memory"
    )


def _form(options: ProductForm, default_scale: float) -> MatMul:
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


def minilm_linears(options: Linears, _seed: int) -> Sequence[Operator]:
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
