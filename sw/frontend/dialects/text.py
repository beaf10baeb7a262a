"""Text of both dialects through xDSL: parsed, verified and printed."""

from collections.abc import Sequence
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.ir import Dialect
from xdsl.ir import Operation as ForeignOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from celosia.sw.frontend.dialects.bridge import from_xdsl, to_xdsl
from celosia.sw.frontend.dialects.cel import CEL
from celosia.sw.frontend.dialects.nn import NN
from celosia.sw.mlir.operation import Operation, Place

__all__ = ["dialects", "parse_verified", "print_through_xdsl"]


def dialects(*more: Dialect) -> Context:
    """A context with `nn`, `cel`, `more`, and the types and attributes that they use."""
    context = Context()
    for dialect in (Builtin, CEL, NN, *more):
        context.load_dialect(dialect)
    return context


def parse_verified(
    text: str, tops: Sequence[str] = ("cel.graph", "nn.graph"), more: Sequence[Dialect] = ()
) -> Operation:
    """The one graph in a text, parsed by xDSL, whose operations keep their dialects' rules.

    It is one of `tops`, and has operations of `more` dialects, too.  Rules of the graph as a whole
    are checked when it is read with its constants.  Raises `ValueError` that names line and column,
    and the rule that is broken.
    """
    parser = _PlacingParser(dialects(*more), text)
    try:
        module = parser.parse_module()
    except ParseError as error:
        place = _place(text, error.span.start)
        raise ValueError(f"{place}: {' '.join(error.msg.split())}") from None
    except RecursionError:
        raise ValueError(f"{_place(text, parser.pos)}: too many levels in each other") from None
    except (DiagnosticException, VerifyException, ValueError) as error:
        raise ValueError(f"{_place(text, parser.pos)}: {error}") from None
    graphs = list(module.body.block.ops)
    if len(graphs) != 1 or graphs[0].name not in tops:
        names = ", ".join(each.name for each in graphs) or "nothing"
        raise ValueError(f"{Place(1, 1)}: one {' or '.join(tops)} is expected, not {names}")
    places = {each: _place(text, start) for each, start in parser.starts.items()}
    for each in graphs[0].walk():
        if each is not graphs[0]:
            _verify(each, places[each])
    return from_xdsl(graphs[0], places)


def print_through_xdsl(operation: Operation, more: Sequence[Dialect] = ()) -> str:
    """The text that xDSL prints of an operation, in MLIR's generic syntax."""
    module, out = ModuleOp([to_xdsl(operation, dialects(*more))]), StringIO()
    Printer(stream=out, print_generic_format=True).print_op(module)
    return out.getvalue() + "\n"


class _PlacingParser(Parser):
    """xDSL's parser, which remembers where operations begin."""

    def __init__(self, context: Context, text: str):
        super().__init__(context, text)
        self.starts: dict[ForeignOperation, int] = {}

    def parse_operation(self) -> ForeignOperation:
        start = self._current_token.span.start
        found = super().parse_operation()
        self.starts[found] = start
        return found


def _verify(operation: ForeignOperation, place: Place) -> None:
    try:
        operation.verify(verify_nested_ops=False)
    except (VerifyException, DiagnosticException) as error:
        text = " ".join(str(error).split())
        raise ValueError(f"{place}: {operation.name}: {text}") from None


def _place(text: str, offset: int) -> Place:
    before = text[:offset]
    return Place(before.count("\n") + 1, offset - before.rfind("\n"))
