"""What TRANSFORM is made of, for the header of constants: functions, element types, widths."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from celosia.isa.encoding import NO_KEY_LIMIT, ElementType, Function
from celosia.isa.functions.table import FUNCTIONS
from celosia.isa.functions.types import DTYPES, ELEMENT_BYTES
from celosia.isa.numerics import (
    CONTEXT_FRACTION_BITS,
    ISQRT_BITS,
    MAX_COLUMNS,
    NORMALIZED_FRACTION_BITS,
    attention,
    normalization,
)
from celosia.isa.numerics.exponential import (
    NUMERATOR_MAX,
    NUMERATOR_SHIFT,
    QUOTIENT_MAX,
    QUOTIENT_SHIFT,
)

__all__ = ["transform_tables"]

_NUMBERS: Final = {
    "NoKeyLimit": NO_KEY_LIMIT,
    "MaxColumns": MAX_COLUMNS,
    "QuotientShift": QUOTIENT_SHIFT,
    "QuotientMax": QUOTIENT_MAX,
    "NumeratorShift": NUMERATOR_SHIFT,
    "NumeratorMax": NUMERATOR_MAX,
    "SumReciprocalBits": attention.RECIPROCAL_BITS,
    "ContextFractionBits": CONTEXT_FRACTION_BITS,
    "MeanBits": normalization.MEAN_BITS,
    "RootBits": ISQRT_BITS,
    "RootReciprocalBits": normalization.RECIPROCAL_BITS,
    "NormalizedBits": normalization.NORMALIZED_BITS,
    "NormalizedFractionBits": NORMALIZED_FRACTION_BITS,
    "Functions": len(Function),
}


def transform_tables() -> Iterator[str]:
    """Lines of C++; the tables are indexed by function and by type."""
    yield ""
    for name, value in _NUMBERS.items():
        yield f"constexpr uint32_t k{name} = {value}u;"
    for kind, prefix in ((Function, "Function"), (ElementType, "Type")):
        yield f"enum {kind.__name__} : uint8_t {{"
        for known in kind:
            yield f"  k{prefix}{known.name.capitalize()} = {int(known)},"
        yield "};"
    bounds = [np.iinfo(DTYPES[kind]) for kind in ElementType]
    yield _table("Bytes", [ELEMENT_BYTES[kind] for kind in ElementType])
    yield _table("Min", [bound.min for bound in bounds])
    yield _table("Max", [bound.max for bound in bounds])
    yield "struct FunctionRules {"
    yield "  uint32_t types;  // A bit for each that its result may have."
    yield "  bool staged, statistics, scores;\n};"
    yield "constexpr FunctionRules kFunctionRules[] = {"
    for function in Function:
        rules = FUNCTIONS[function]
        types = sum(1 << kind for kind in rules.types)
        flags = map(int, (rules.staged, rules.statistics, rules.scores))
        yield f"    {{{', '.join(map(str, (types, *flags)))}}},"
    yield "};"


def _table(name: str, values: list[int]) -> str:
    """Of each element type."""
    literals = ", ".join(f"{value}LL" for value in values)
    return f"constexpr int64_t kElement{name}[] = {{{literals}}};"
