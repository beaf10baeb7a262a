"""The page of operators: those of the float graph, and of ONNX."""

from collections.abc import Sequence
from typing import Final

from onnx import defs

from celosia.isa.documents.markdown import table
from celosia.sw.frontend.importer.source.bodies import has_body
from celosia.sw.frontend.importer.source.model_file import DEFAULT_DOMAIN, OPSETS
from celosia.sw.frontend.importer.table import HANDLERS, LIMITS, MICROSOFT
from celosia.sw.frontend.nn.operators.operator import Operator
from celosia.sw.frontend.nn.operators.table import OPERATORS

__all__ = ["operator_page"]

_HEAD: Final = f"""\
# Operators of models

Printed by `celosia docs` from `sw/frontend`; edit that, not this page. An ONNX file of opsets
{OPSETS[0]} to {OPSETS[-1]} becomes a *float graph* of the operators in the first table: sizes are
bound, functions are inlined, and all that is known before the model runs is computed. `celosia
check` says what becomes of each node of a file; [onnx-node-tests.md](onnx-node-tests.md) has the
results of onnx's own tests.

## The float graph

Operands are a, b, c, d; attributes are in `quotes`. `sw/frontend/nn/operators` has the meanings.

"""
_ONNX: Final = """
## ONNX

Numbers of 16 bits are computed in float32. Sequences, maps, strings, complex numbers and loops are
refused, and so is an attribute or operand that the importer does not know.

"""
_BODIES: Final = """
Operators without a row, for which the standard gives a body, are replaced by it, and are supported
as far as it consists of these: """
_COLUMNS: Final = 100
_FUSED: Final = f"""
## {MICROSOFT}

"""


def operator_page() -> str:
    """The page as Markdown."""
    known = HANDLERS[DEFAULT_DOMAIN]
    schemas = {schema.name: schema for schema in defs.get_all_schemas() if not schema.domain}
    bodies = [name for name in schemas if name not in known and has_body(schemas[name])]
    return (
        _HEAD
        + table(("operator", "attributes", "result"), map(_row, OPERATORS.values()))
        + _ONNX
        + _handled(DEFAULT_DOMAIN)
        + _wrapped(_BODIES + ", ".join(sorted(bodies)) + ".")
        + _FUSED
        + _handled(MICROSOFT)
    )


def _row(operator: Operator) -> Sequence[str]:
    return operator.name, ", ".join(operator.attributes), operator.doc


def _handled(domain: str) -> str:
    limits = LIMITS[domain]
    rows = ((name, limits.get(name, "")) for name in sorted(HANDLERS[domain]))
    return table(("operator", "but not"), rows)


def _wrapped(text: str) -> str:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= _COLUMNS:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{word}"
    return "\n" + "".join(f"{line}\n" for line in lines)
