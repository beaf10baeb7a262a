"""From an expression to an operator of a graph, by the intrinsics that compute it.

Assumes a tensor of `celosia.sw.frontend.expressions.language.compute`.  Each statement is matched
with the intrinsics and proved by numbers, as recognizers are; what none fits is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.sw.frontend.expressions.elementwise import find_multiplications, find_transforms
from celosia.sw.frontend.expressions.evaluate import whole
from celosia.sw.frontend.expressions.factors import find_factors
from celosia.sw.frontend.expressions.layout import Matrix
from celosia.sw.frontend.expressions.nodes import ExpressionError, Tensor
from celosia.sw.frontend.expressions.products import find_products, split_tensors
from celosia.sw.frontend.expressions.program import Call, Program, graph_of, program_of
from celosia.sw.frontend.expressions.rules import EXPRESSIONS
from celosia.sw.ir.graph import Graph
from celosia.sw.rewriting.engine import Refusal, Rule, exhaust

__all__ = ["RULES", "TensorOperator", "tensorize"]

Array = NDArray[Any]

_FACTORS: Final = Rule(
    name="factors",
    summary="factors that go together become a tensor of their own",
    level=EXPRESSIONS,
    find=find_factors,
)
RULES: Final = (
    Rule(
        name="products",
        summary="sums of products are computed by PRODUCTS",
        level=EXPRESSIONS,
        find=find_products,
        repeats=False,
    ),
    Rule(
        name="multiplications",
        summary="products element by element are computed by MULTIPLY",
        level=EXPRESSIONS,
        find=find_multiplications,
        repeats=False,
    ),
    Rule(
        name="transforms",
        summary="functions of int32 are computed by TRANSFORM",
        level=EXPRESSIONS,
        find=find_transforms,
        repeats=False,
    ),
)
"""What computes statements, in this order."""


@dataclass(frozen=True, eq=False)
class TensorOperator:
    """An operator of one's own: a graph, and how tensors become its matrices."""

    result: Tensor
    """The tensor that it computes."""
    calls: tuple[Call, ...]
    """What computes it."""

    @cached_property
    def graph(self) -> Graph:
        """The graph, whose inputs and output are matrices."""
        return graph_of(self.result.name, [*self.calls], [self._output])

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors that are given, in the order in which they are read."""
        read = (each.tensor for call in self.calls for each in call.inputs)
        return tuple(dict.fromkeys(t for t in read if t.body is None and t.value is None))

    @property
    def laid_out(self) -> tuple[str, ...]:
        """What the host gathers before a run or scatters behind it: matrices by name."""
        each = [m for m in self._matrices.values() if m.tensor.value is None]
        each += [] if self._output.gathered is None else [self._output]
        return tuple(m.name for m in each if m.gathered is not None)

    def matrices(self, values: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """The graph's inputs, for arrays by the names of tensors.

        Raises `ExpressionError` for an array that is missing or not of a tensor, has another shape
        or type, or elements that the tensor does not have.
        """
        known = {tensor.name: tensor for tensor in self.inputs}
        for name in values:
            if name not in known:
                raise ExpressionError(f"{name} is no input; there are {', '.join(known)}")
        arrays = {name: _checked(tensor, values) for name, tensor in known.items()}
        given = self._matrices
        return {name: given[name].of(arrays[given[name].tensor.name]) for name in self.graph.inputs}

    def tensor(self, matrix: Array) -> Array:
        """The result, for the graph's output."""
        return self._output.back(matrix)

    def random(self, seed: int) -> dict[str, Array]:
        """Arrays for all inputs, over all of the range of each."""
        random = np.random.default_rng(seed)
        return {
            each.name: random.integers(each.low, each.high, each.shape, each.dtype, endpoint=True)
            for each in self.inputs
        }

    def expected(self, values: Mapping[str, Array]) -> Array:
        """The result by the expression alone, without any graph."""
        known = dict(values)
        for each in program_of(self.result).statements:
            assert isinstance(each, Tensor)
            known[each.name] = whole(each, known)
        return known[self.result.name]

    @property
    def _output(self) -> Matrix:
        return self.calls[-1].output

    @cached_property
    def _matrices(self) -> dict[str, Matrix]:
        return {each.name: each for call in self.calls for each in call.inputs}


def tensorize(result: Tensor) -> TensorOperator:
    """The operator that computes a tensor.

    Raises `ExpressionError` for a tensor that is given and not computed, and for one that no
    intrinsic computes: with what is missing.
    """
    if result.body is None:
        raise ExpressionError(f"{result.name} is given, not computed: there is nothing to do")
    program, refusals = _rewritten(_FACTORS, program_of(result))
    program = split_tensors(program)
    for rule in RULES:
        program, more = _rewritten(rule, program)
        refusals = {**more, **refusals}
    for each in program.statements:
        if isinstance(each, Tensor):
            raise ExpressionError(_refused(each, refusals))
    calls = tuple(each for each in program.statements if isinstance(each, Call))
    return TensorOperator(result, calls)


def _rewritten(rule: Rule, program: Program) -> tuple[Program, dict[str, Refusal]]:
    """The program behind a rule, and why it has left what looked like something."""
    done = exhaust(rule, program)
    return done.graph, {each.root: each for each in done.refusals}


def _refused(tensor: Tensor, refusals: Mapping[str, Refusal]) -> str:
    whole_name, _, part = tensor.name.partition(".")
    what = f"its part {tensor.name}, {tensor.body}" if part else "it"
    known = refusals.get(tensor.name)
    reason = known.reason if known else "it is no sum of products, and no function of an element"
    return f"{whole_name}: no intrinsic computes {what}: {reason}"


def _checked(tensor: Tensor, values: Mapping[str, ArrayLike]) -> Array:
    if tensor.name not in values:
        raise ExpressionError(f"{tensor.name} is missing")
    array = np.asarray(values[tensor.name])
    if array.shape != tensor.shape or array.dtype != tensor.dtype:
        raise ExpressionError(
            f"{tensor.name} is {array.dtype} of {array.shape}, not {tensor.dtype} of {tensor.shape}"
        )
    low, high = int(array.min()), int(array.max())
    if low < tensor.low or high > tensor.high:
        raise ExpressionError(
            f"{tensor.name} has elements of {low:,}..{high:,}, and is declared with "
            f"{tensor.low:,}..{tensor.high:,}"
        )
    return array
