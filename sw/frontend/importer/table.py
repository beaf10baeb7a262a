"""All handlers, by domain and operator."""

from collections.abc import Mapping
from typing import Final

from celosia.sw.frontend.importer.handlers.activations import ACTIVATIONS
from celosia.sw.frontend.importer.handlers.attention import ATTENTION
from celosia.sw.frontend.importer.handlers.elementwise import ELEMENTWISE
from celosia.sw.frontend.importer.handlers.indexing import INDEXING
from celosia.sw.frontend.importer.handlers.layout import LAYOUT
from celosia.sw.frontend.importer.handlers.norms import NORMS
from celosia.sw.frontend.importer.handlers.products import PRODUCTS
from celosia.sw.frontend.importer.handlers.quantized import QUANTIZED
from celosia.sw.frontend.importer.handlers.recurrent import RECURRENT
from celosia.sw.frontend.importer.handlers.reductions import REDUCTIONS
from celosia.sw.frontend.importer.handlers.registry import Handler
from celosia.sw.frontend.importer.handlers.resize import RESIZE
from celosia.sw.frontend.importer.handlers.shapes import SHAPES
from celosia.sw.frontend.importer.handlers.transposed import TRANSPOSED
from celosia.sw.frontend.importer.microsoft.attention import FUSED_ATTENTION
from celosia.sw.frontend.importer.microsoft.few_bits import FEW_BITS
from celosia.sw.frontend.importer.microsoft.fused import FUSED
from celosia.sw.frontend.importer.microsoft.quantized import FUSED_QUANTIZED
from celosia.sw.frontend.importer.source.model_file import DEFAULT_DOMAIN

__all__ = ["HANDLERS", "LIMITS", "MICROSOFT"]

_FAMILIES: Final = (
    ELEMENTWISE,
    LAYOUT,
    INDEXING,
    SHAPES,
    REDUCTIONS,
    PRODUCTS,
    ACTIVATIONS,
    NORMS,
    ATTENTION,
    TRANSPOSED,
    QUANTIZED,
    RECURRENT,
    RESIZE,
)

MICROSOFT: Final = "com.microsoft"
"""The domain of operators that only ONNX Runtime defines."""

_FUSED: Final = (FUSED, FUSED_ATTENTION, FUSED_QUANTIZED, FEW_BITS)

LIMITS: Final[Mapping[str, Mapping[str, str]]] = {
    DEFAULT_DOMAIN: {name: but for each in _FAMILIES for name, but in each.limits.items()},
    MICROSOFT: {name: but for each in _FUSED for name, but in each.limits.items()},
}
"""The forms of an operator that are refused."""

HANDLERS: Final[Mapping[str, Mapping[str, Handler]]] = {
    DEFAULT_DOMAIN: {name: handler for family in _FAMILIES for name, handler in family.items()},
    MICROSOFT: {name: handler for each in _FUSED for name, handler in each.items()},
}
"""The handler of each operator, by the name of its domain."""
