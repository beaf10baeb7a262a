"""The operands of a product: from NumPy files, or random ones of a given shape."""

import os
import re
import warnings
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.foreign_file import MIB, ForeignFileError, open_foreign
from celosia.sim.support.problems import InputError
from celosia.sw.driver.program_file import MAX_MEMORY_BYTES
from celosia.sw.ir.matmul import MatMul, verify

__all__ = ["Operands", "load_array", "load_operands", "parse_shape", "random_operands"]

_SPREAD: Final = 40.0
"""Standard deviation of random int8 results: few saturate, few are zero."""

_MOST_BYTES: Final = MAX_MEMORY_BYTES + MIB
"""No operand is larger than the largest memory; a header has some bytes more."""

_COUNTS: Final = {2: "two", 3: "three"}

_UNREADABLE: Final = (
    ValueError,
    EOFError,
    OverflowError,
    MemoryError,
    SyntaxError,
    TypeError,
    RecursionError,
    TokenError,
)
"""What NumPy raises for headers that are none, or that were written to hurt."""


@dataclass(frozen=True, eq=False)
class Operands:
    """A product and the arrays that it is computed from, as they stand in memory."""

    problem: MatMul
    a: NDArray[Any]
    b: NDArray[Any]
    bias: NDArray[Any] | None = None


def parse_shape(text: str, form: str = "MxNxK") -> tuple[int, ...]:
    """``"512x768x64"`` as (M, N, K), or as many sizes as `form` names."""
    sizes = form.split("x")
    if not re.fullmatch("x".join([r"\d{1,18}"] * len(sizes)), text, re.ASCII):
        raise InputError(
            f"--shape {text!r}: write it as {form}, {_COUNTS[len(sizes)]} whole numbers"
        )
    return tuple(int(size) for size in text.split("x"))


def random_operands(problem: MatMul, seed: int) -> Operands:
    """Operands over the whole range of their types.

    The same `problem` and `seed` give the same operands.
    """
    verify(problem)
    random = np.random.default_rng([seed, problem.m, problem.n, problem.k])
    a_type = np.uint8 if problem.a_unsigned else np.int8
    a = _integers(random, (problem.m, problem.k), a_type)
    b = _integers(random, problem.b_shape, np.int8)
    bias = None
    if problem.bias:
        bound = 64 * max(1, round(np.sqrt(problem.k) * 64))
        bias = random.integers(-bound, bound, problem.n, np.int32, endpoint=True)
    return Operands(problem, a, b, bias)


def fitting_scale(k: int) -> float:
    """A scale for sums of `k` products of random int8 numbers, so that few results saturate."""
    return float(np.float32(_SPREAD / (np.sqrt(k) * 74.0 * 74.0)))


def load_operands(problem: MatMul, a_path: Path, b_path: Path, bias_path: Path | None) -> Operands:
    """The operands in three ``.npy`` files.

    `problem` says what the files cannot: its shape and the type of A are taken from them.
    """
    a = load_array("--a", a_path, (np.int8, np.uint8), 2)
    b = load_array("--b", b_path, (np.int8,), 2)
    if problem.a_unsigned and a.dtype != np.uint8:
        raise InputError(f"--a {a_path}: int8, but --unsigned-a says uint8")
    (m, k), (rows, cols) = a.shape, b.shape
    n, b_k = (rows, cols) if problem.b_transposed else (cols, rows)
    if b_k != k:
        form = "B is N x K" if problem.b_transposed else "B is K x N"
        raise InputError(
            f"--b {b_path}: {rows}x{cols} does not match A's {m}x{k} "
            f"(A is M x K, {form}: {b_k} is not {k})"
        )
    bias = None
    if bias_path is not None:
        bias = load_array("--bias", bias_path, (np.int32,), 1)
        if len(bias) != n:
            raise InputError(f"--bias {bias_path}: {len(bias)} elements, but C has {n} columns")
    shaped = replace(problem, m=m, n=n, k=k, a_unsigned=a.dtype == np.uint8, bias=bias is not None)
    return Operands(verify(shaped), a, b, bias)


def load_array(
    option: str, path: Path, kinds: tuple[type[np.integer[Any]], ...], dimensions: int
) -> NDArray[Any]:
    """The array in a ``.npy`` file, dense and in the machine's byte order.

    Raises `InputError` unless it is of one of the `kinds`, has so many `dimensions`, and is not
    empty.  Nothing is allocated before the file is known to hold what it promises.
    """
    place = f"{option} {path}"
    try:
        with open_foreign(path, _MOST_BYTES) as file:
            return _read_array(file, place, kinds, dimensions)
    except ForeignFileError as error:
        raise InputError(f"{option} {error}") from None


def _read_array(
    file: BinaryIO, place: str, kinds: tuple[type[np.integer[Any]], ...], dimensions: int
) -> NDArray[Any]:
    shape, columns_first, dtype = _read_header(file, place)
    kind = dtype.newbyteorder("=")
    if kind not in kinds:
        names = " or ".join(np.dtype(kind).name for kind in kinds)
        raise InputError(f"{place}: elements are {dtype}, must be {names}")
    if len(shape) != dimensions:
        raise InputError(f"{place}: shape {shape}, must have {dimensions} dimensions")
    if any(isinstance(size, bool) for size in shape):
        raise InputError(f"{place}: shape {shape}: every size must be a whole number")
    if min(shape) < 1:
        raise InputError(f"{place}: shape {shape}: every size must be at least 1")
    start = file.tell()
    held, promised = file.seek(0, os.SEEK_END) - start, prod(shape) * dtype.itemsize
    if held < promised:
        raise InputError(
            f"{place}: not a complete file: {shape} of {dtype} are {promised:,} bytes, "
            f"it has {held:,}"
        )
    file.seek(start)
    data = np.frombuffer(file.read(promised), dtype)
    return np.array(data.reshape(shape, order="F" if columns_first else "C"), kind, order="C")


def _read_header(file: BinaryIO, place: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether columns come first, and type of the array in a ``.npy`` file."""
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Headers that Python 2 wrote are right.
            return readers[np.lib.format.read_magic(file)](file)
    except KeyError as version:
        raise InputError(f"{place}: not a .npy file of version 1.0 or 2.0, but {version}") from None
    except _UNREADABLE as error:
        raise InputError(f"{place}: not a .npy file: {error}") from None


def _integers(
    random: np.random.Generator, shape: tuple[int, int], kind: type[np.integer[Any]]
) -> NDArray[Any]:
    info = np.iinfo(kind)
    return random.integers(info.min, info.max, shape, kind, endpoint=True)
