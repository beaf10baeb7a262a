"""What the accelerator computes at once, as expressions that the instruction set's meaning proves.

A declaration is an expression and an execution; `Intrinsic.check` compares them on drawn operands.
What an expression is matched with is the pattern alone.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.encoding import CONFIG_EX, CONFIG_PRODUCTS, PRODUCTS
from celosia.isa.execution.memories import LocalMemories
from celosia.isa.execution.products import execute_product
from celosia.isa.functions.operands import Operands
from celosia.isa.functions.table import FUNCTIONS, Function
from celosia.isa.operations.operations import Product
from celosia.isa.operations.product_nest import ProductNest
from celosia.isa.operations.semantics import step
from celosia.isa.presets import resolve_config
from celosia.isa.state.state import ArchState
from celosia.sw.frontend.expressions.evaluate import whole
from celosia.sw.frontend.expressions.language import compute, placeholder, reduce_axis, total
from celosia.sw.frontend.expressions.nodes import Access, Axis, ExpressionError, Tensor
from celosia.sw.frontend.expressions.terms import axes_of, terms

__all__ = ["INTRINSICS", "MULTIPLY_INTRINSIC", "PRODUCTS_INTRINSIC", "Intrinsic", "Role"]

Array = NDArray[Any]
Role = tuple[frozenset[int], bool]
"""The operands that an axis stands in, by number, and whether it is one of the result."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Intrinsic:
    """What an instruction computes, as an expression."""

    name: str
    """The instruction, or the function of TRANSFORM."""
    patterns: tuple[Tensor, ...]
    """The expression, for each choice of types: one product of elements, over some axes."""
    meaning: Callable[[Tensor, Mapping[str, Array]], Array]
    """What the instruction set computes of operands by name, for one of the patterns."""

    @property
    def types(self) -> frozenset[tuple[str, ...]]:
        """The types of operands that it takes, in their order."""
        return frozenset(tuple(each.tensor.dtype for each in _operands(p)) for p in self.patterns)

    @property
    def results(self) -> frozenset[str]:
        """The types of results."""
        return frozenset(each.dtype for each in self.patterns)

    @property
    def roles(self) -> Mapping[Role, Axis]:
        """What each axis of the pattern stands in."""
        pattern = self.patterns[0]
        operands = [axes_of(each) for each in _operands(pattern)]
        axes = dict.fromkeys(axis for each in operands for axis in each)
        return {role_of(axis, operands, pattern.axes): axis for axis in axes}

    def check(self) -> None:
        """Raise `ExpressionError` where the instruction computes something else."""
        if reason := _disproof(self):
            raise ExpressionError(f"intrinsic {self.name}: {reason}")


def role_of(axis: Axis, operands: list[tuple[Axis, ...]], results: tuple[Axis, ...]) -> Role:
    """What an axis stands in."""
    return frozenset(n for n, each in enumerate(operands) if axis in each), axis in results


@lru_cache(maxsize=64)
def _disproof(intrinsic: Intrinsic) -> str | None:
    """Where the instruction computes something else than its expression; None: nowhere."""
    for pattern in intrinsic.patterns:
        for operands in _drawn(pattern):
            expected = whole(pattern, operands)
            if not np.array_equal(expected, intrinsic.meaning(pattern, operands)):
                kinds = ", ".join(str(each.dtype) for each in operands.values())
                return f"{pattern.body} of {kinds} is not what the instruction set computes"
    return None


def _drawn(pattern: Tensor) -> Iterator[dict[str, Array]]:
    """Operands over all of their range, and at its ends."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        found = {}
        for access in _operands(pattern):
            tensor = access.tensor
            drawn = random.integers(tensor.low, tensor.high, tensor.shape, endpoint=True)
            if seed % 2:
                drawn = random.choice([tensor.low, tensor.high], tensor.shape)
            found[tensor.name] = drawn.astype(tensor.dtype)
        yield found


def _operands(pattern: Tensor) -> list[Access]:
    assert pattern.body is not None
    (term,) = terms(pattern.body)
    return [each for each in term.factors if isinstance(each, Access)]


def _product(kind: str) -> Tensor:
    a, b, k = placeholder("a", (3, 7), kind), placeholder("b", (7, 6)), reduce_axis(7)
    return compute("c", (3, 6), lambda i, j: total(a[i, k] * b[k, j], k))


def _products(pattern: Tensor, operands: Mapping[str, Array]) -> Array:
    """A PRODUCTS on operands in the scratchpad, command by command."""
    a, b, config = operands["a"], operands["b"], resolve_config("tiny")
    (rows, depth), cols, dim = a.shape, b.shape[1], config.dim
    deep, wide = -(-depth // dim), -(-cols // dim)
    memories = LocalMemories(config, seed=1)
    first_w = deep * rows
    for k in range(deep):
        part = a[:, k * dim : (k + 1) * dim].view(np.int8)
        memories.scratchpad[k * rows : (k + 1) * rows, : part.shape[1]] = part
        for column in range(wide):
            tile = b[k * dim : (k + 1) * dim, column * dim : (column + 1) * dim]
            at = first_w + (column * deep + k) * dim
            memories.scratchpad[at : at + len(tile), : tile.shape[1]] = tile
    strides = CONFIG_PRODUCTS.encode(a_k=rows, w_k=dim, w_column=deep * dim, c_column=rows)
    command = PRODUCTS.encode(
        w=first_w,
        overwrite=1,
        rows=rows,
        k=deep,
        pieces=1,
        columns=wide,
        last_depth=depth - (deep - 1) * dim,
        last_cols=cols - (wide - 1) * dim,
    )
    nest = ProductNest.decode(command, strides, dim)
    assert nest is not None
    unsigned = CONFIG_EX.encode(
        weight_stationary=1, a_unsigned=a.dtype == np.uint8, a_stride=1, c_stride=1
    )
    state = step(unsigned, ArchState.reset(config), config).state
    for each in nest.commands():
        done = step(each, state, config)
        assert not done.cause, done.cause
        state = done.state
        if isinstance(done.operation, Product):
            execute_product(done.operation, memories)
    tiles = memories.accumulator[: wide * rows].reshape(wide, rows, dim)
    return tiles.transpose(1, 0, 2).reshape(rows, -1)[:, :cols].copy()


def _pair(kind: str) -> Tensor:
    """Elements whose products fit: MULTIPLY saturates all others."""
    most = {"int8": 11, "uint8": 15, "int16": 181}[kind]
    low = 0 if kind == "uint8" else -most
    a, b = (placeholder(name, (3, 7), "int16", low=low, high=most) for name in "ab")
    return compute("c", (3, 7), lambda i, j: a[i, j] * b[i, j], kind)


def _multiply(pattern: Tensor, operands: Mapping[str, Array]) -> Array:
    kind = np.dtype(pattern.dtype)
    found = Operands(x=operands["a"], residual=operands["b"], kind=kind)
    return FUNCTIONS[Function.MULTIPLY].meaning(found)[0]


PRODUCTS_INTRINSIC: Final = Intrinsic(
    name=PRODUCTS.name.upper(),
    patterns=(_product("int8"), _product("uint8")),
    meaning=_products,
)
MULTIPLY_INTRINSIC: Final = Intrinsic(
    name=Function.MULTIPLY.name,
    patterns=tuple(_pair(kind.name.lower()) for kind in FUNCTIONS[Function.MULTIPLY].types),
    meaning=_multiply,
)
INTRINSICS: Final = (PRODUCTS_INTRINSIC, MULTIPLY_INTRINSIC)
"""What expressions are matched with.  REQUANTIZE and curves stand in expressions by their names."""
