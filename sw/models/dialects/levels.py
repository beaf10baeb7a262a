"""Dialects ``cel.plan`` and ``cel.program`` in xDSL, and what holds them: one to one with records.

Each operation of a region checks its attributes by the record that it is.  What makes a plan legal,
a program well formed and a model whole is checked when it is read with its arrays
(`celosia.sw.models.lowering.read`).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from numpy import zeros
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Dialect
from xdsl.ir import Operation as ForeignOperation
from xdsl.irdl import IRDLOperation, irdl_op_definition, region_def, result_def, traits_def
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from celosia.sw.frontend.dialects.bridge import from_xdsl
from celosia.sw.frontend.dialects.text import parse_verified
from celosia.sw.ir.print_program import KINDS
from celosia.sw.mlir.operation import NOWHERE, Operation
from celosia.sw.models.lowering.names import ELEMENTS, PROGRAM_OPS, REGIONS
from celosia.sw.models.lowering.read import TOPS, written

__all__ = ["LEVELS", "parse_level"]


def parse_level(text: str) -> Operation:
    """The one graph, model, plan, program or list of commands in a text, parsed by xDSL.

    Raises `ValueError` that names line and column, and the rule that is broken.
    """
    return parse_verified(text, TOPS, LEVELS)


class _Any(Mapping[str, NDArray[Any]]):
    """An array for each name: values of records are looked at later."""

    def __getitem__(self, name: str) -> NDArray[Any]:
        return zeros(0)

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self):
        return iter(())

    def __len__(self) -> int:
        return 0


class _Region(IRDLOperation):
    """A record that has many of something: each is an operation in the region."""

    body = region_def("single_block")
    traits = traits_def(NoTerminator())


class _Element(IRDLOperation):
    """An element of a record's list or mapping."""

    def verify_(self) -> None:
        _verify(self, lambda operation: ELEMENTS[operation.name].made(operation, _Any()))


class _Program(IRDLOperation):
    """An operation on local rows."""

    def verify_(self) -> None:
        _verify(self, written)


def _verify(operation: ForeignOperation, read: Callable[[Operation], object]) -> None:
    """Raise `VerifyException` for an operation that `read` refuses; who reads knows its place."""
    try:
        read(from_xdsl(operation))
    except ValueError as error:
        said = str(error).removeprefix(f"{NOWHERE}: {operation.name}: ")
        raise VerifyException(said) from None


@irdl_op_definition
class _ReadOp(IRDLOperation):
    """A tensor that segments compute, as the host reads it."""

    name = "cel.read"
    result = result_def(TensorType)


def _defined(base: type[IRDLOperation], name: str) -> type[ForeignOperation]:
    return irdl_op_definition(type(name, (base,), {"name": name, "__doc__": base.__doc__}))


def _dialect(name: str) -> Dialect:
    """The operation `name` and what may be in its region."""
    inner = [_defined(_Element, each) for each in ELEMENTS if each.startswith(f"{name}.")]
    return Dialect(name, [_defined(_Region, name), *inner])


LEVELS: Final = (
    Dialect(
        "cel.program",
        [
            _defined(_Region, "cel.program"),
            *(_defined(_Program, PROGRAM_OPS + word) for word in KINDS),
        ],
    ),
    Dialect("cel.lowered", [_defined(_Region, "cel.lowered"), _ReadOp]),
    *map(_dialect, REGIONS),
)
"""The dialects."""
