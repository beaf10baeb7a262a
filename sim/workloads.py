"""The workloads by name, and the operators that they are made of."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Final

import numpy as np

from celosia.sim.errors import EnvironmentProblem
from celosia.sim.operands import (
    Operands,
    fitting_scale,
    load_operands,
    parse_shape,
    random_operands,
)
from celosia.sim.problems import InputError
from celosia.sw.driver.buffers import ALIGNMENT
from celosia.sw.driver.program_file import MAX_MEMORY_BYTES
from celosia.sw.ir.matmul import MatMul, verify

__all__ = [
    "PROGRAM_SUFFIX",
    "WORKLOADS",
    "Operator",
    "Workload",
    "WorkloadOptions",
    "check_options",
    "device_bytes",
    "make_operators",
]

PROGRAM_SUFFIX: Final = ".cel"
"""What the name of a program file ends with."""

_MEMORY_STEP: Final = 1 << 20


@dataclass(frozen=True)
class Operator:
    """A product with a name."""

    name: str
    operands: Operands


@dataclass(frozen=True, kw_only=True)
class WorkloadOptions:
    """Options that only some workloads have; the default is always: not given."""

    shape: str | None = None
    a: Path | None = None
    b: Path | None = None
    bias: Path | None = None
    scale: float | None = None
    relu: bool = False
    out: Path | None = None
    transpose_b: bool = False
    unsigned_a: bool = False
    out_type: str | None = None
    text: str | None = None

    def given(self) -> tuple[str, ...]:
        """The names of the options that were given."""
        return tuple(
            field.name for field in fields(self) if getattr(self, field.name) != field.default
        )


@dataclass(frozen=True)
class Workload:
    """Something to run."""

    doc: str
    options: frozenset[str]
    """Names of `WorkloadOptions` that it has."""
    make: Callable[[WorkloadOptions, int], Sequence[Operator]]
    """The operators for these options and this seed."""


def make_operators(name: str, options: WorkloadOptions, seed: int) -> Sequence[Operator]:
    """The operators of workload `name`.  Raises `InputError` for what it cannot be run with."""
    workload = WORKLOADS[name]
    return workload.make(options, seed)


def check_options(name: str, options: WorkloadOptions) -> None:
    """Raise `InputError` if there is no workload `name`, or it does not have one of `options`."""
    program = name.endswith(PROGRAM_SUFFIX)
    if not program and name not in WORKLOADS:
        raise InputError(
            f"there is no workload {name!r}; there are {', '.join(WORKLOADS)}, "
            f"or give a program file (*{PROGRAM_SUFFIX})"
        )
    known = frozenset() if program else WORKLOADS[name].options
    for option in options.given():
        if option not in known:
            raise InputError(f"--{option.replace('_', '-')} is no option of {name}")


def device_bytes(operators: Iterable[Operator]) -> int:
    """Bytes of device memory that the largest of `operators` needs, in whole MiB."""
    largest = max(_bytes(operator.operands.problem) for operator in operators)
    return -(-largest // _MEMORY_STEP) * _MEMORY_STEP


def _bytes(problem: MatMul) -> int:
    """Bytes of all arrays of `problem`, each aligned."""
    sizes = (
        problem.m * problem.k,
        problem.k * problem.n,
        4 * problem.n,
        problem.m * problem.n * problem.c_bytes,
    )
    return sum(size + ALIGNMENT for size in sizes)


def _matmul(options: WorkloadOptions, seed: int) -> Sequence[Operator]:
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


def _minilm_linears(options: WorkloadOptions, _seed: int) -> Sequence[Operator]:
    # Loaded when it is asked for: reading a model needs packages that nothing else does.
    minilm = import_module("celosia.sw.models.minilm")
    text = minilm.DEFAULT_TEXT if options.text is None else options.text
    try:
        text.encode()  # The shell hands over bytes that are no text as surrogates.
        products = minilm.linear_products(text)
    except minilm.MissingModelError as error:
        raise EnvironmentProblem(str(error)) from None
    except UnicodeEncodeError:
        raise InputError(f"--text {text!r}: not UTF-8") from None
    except ValueError as error:
        raise InputError(str(error)) from None
    return [
        Operator(product.name, Operands(product.problem, product.a, product.b, product.bias))
        for product in products
    ]


WORKLOADS: Final = {
    "matmul": Workload(
        "C = act(scale * (A @ B + bias)), of files or of random numbers",
        frozenset({
            "shape",
            "a",
            "b",
            "bias",
            "scale",
            "relu",
            "out",
            "transpose_b",
            "unsigned_a",
            "out_type",
        }),
        _matmul,
    ),
    "minilm-linears": Workload(
        "the products of the first layer of a MiniLM sentence encoder, of a sentence's activations",
        frozenset({"text"}),
        _minilm_linears,
    ),
}
"""Everything that `celosia run` knows by name."""
