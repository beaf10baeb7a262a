"""Operators of one's own, in a Python file that sets `operator`: docs/tensor-expressions.md."""

import runpy
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from numpy.typing import NDArray

from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.details import ExpressionFile
from celosia.sim.workloads.graph_workloads import GraphJob
from celosia.sw.frontend.expressions.nodes import ExpressionError, Tensor
from celosia.sw.frontend.expressions.tensorize import TensorOperator, tensorize
from celosia.sw.models.cases import Case
from celosia.sw.quantize.graphs.files.archives import read_npz

__all__ = ["EXPRESSIONS_SUFFIX", "ExpressionJob", "expression", "expression_job"]

EXPRESSIONS_SUFFIX: Final = ".py"
"""What the name of a file with an operator ends with."""
_NAME: Final = "operator"
"""What such a file sets."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ExpressionJob(GraphJob):
    """The graph of an operator, with its inputs as matrices."""

    operator: TensorOperator

    @property
    def notes(self) -> tuple[str, ...]:
        """What the host does, beside loading and reading tensors as they are."""
        names = ", ".join(self.operator.laid_out)
        return (f"the host lays out {names}: no rectangle of a tensor is read so",) * bool(names)

    def result(self, output: NDArray[Any]) -> NDArray[Any]:
        """The operator's tensor, whatever the matrix is in which it stood."""
        return self.operator.tensor(output)


def expression(path: Path, options: ExpressionFile, seed: int, tell: Progress) -> GraphJob:
    """The operator in a file, on arrays of another file or on random ones.  Raises `InputError`."""
    tensor = _read(path)
    tell("matching with intrinsics, and proving", None)
    try:
        operator = tensorize(tensor)
    except ExpressionError as error:
        raise InputError(f"{path}: {error}") from None
    if options.input is None:
        return expression_job(operator, operator.random(seed))
    try:
        return expression_job(operator, read_npz(options.input, lambda types: None))
    except ValueError as error:
        place = "" if str(options.input) in str(error) else f"{options.input}: "
        raise InputError(f"{place}{error}") from None


def expression_job(operator: TensorOperator, values: Mapping[str, NDArray[Any]]) -> ExpressionJob:
    """An operator on arrays by the names of its tensors.  Raises `ExpressionError`."""
    return ExpressionJob(Case(operator.graph, operator.matrices(values)), operator=operator)


def _read(path: Path) -> Tensor:
    """The tensor that a file sets as its operator.  Raises `InputError`."""
    try:
        found = runpy.run_path(str(path))
    except ExpressionError as error:
        raise InputError(f"{path}{_line(path, error)}: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (Exception, SystemExit) as error:  # The file is a user's, and may raise anything.
        raise InputError(f"{path}{_line(path, error)}: {type(error).__name__}: {error}") from None
    tensor = found.get(_NAME)
    if not isinstance(tensor, Tensor):
        what = "sets no" if tensor is None else f"sets {type(tensor).__name__} as"
        raise InputError(
            f"{path}: it {what} `{_NAME}`, which is to be a tensor of compute "
            "(docs/tensor-expressions.md)"
        )
    return tensor


def _line(path: Path, error: BaseException) -> str:
    """The last line of the file that an error came through, as ``:12``."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [each.lineno for each in frames if each.filename == str(path)]
    return f":{lines[-1]}" if lines else ""
