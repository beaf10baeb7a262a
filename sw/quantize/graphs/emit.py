"""Integer graphs of segments: units with weights, scales and zero points in their formats."""

from typing import Final

from celosia.sw.quantize.graphs import emit_attention, emit_products, emit_vectors
from celosia.sw.quantize.graphs.formats import Format, Formats
from celosia.sw.quantize.graphs.places import Emit, Places
from celosia.sw.quantize.units.segments import Segment, Segments
from celosia.sw.quantize.units.values import Form

__all__ = ["emit_segments"]

_EMIT: Final[Emit] = {**emit_products.EMIT, **emit_vectors.EMIT, **emit_attention.EMIT}


def emit_segments(
    segments: Segments, formats: Formats, *, named: bool = False, moving: bool = False
) -> tuple[list[Segment], dict[Form, Format]]:
    """The integer graphs of all segments, and the format of every form in them.

    Names of tensors and operators begin with their unit's, which is a number, or, if graphs are
    `named`, the origin of the node that it ends with: no two units may have the same.  A product
    or a norm is called like its unit then.  With `moving`, causal masks are those of programs that
    are patched for other lengths.

    Raises `GraphError` for a graph that `formats` are not of, `ValueError` for a norm whose factors
    do not fit their integers.
    """
    forms = formats.fitted(segments)
    parts = [
        Places(segments, formats, forms, number, named=named, moving=moving)
        for number in range(segments.count)
    ]
    for name, segment in segments.segment_of.items():
        unit, at = segments.units.units[name], parts[segment]
        _EMIT[type(unit)](at, at.begin(unit), unit)
    wanted = {form for part in parts for form in part.inputs.values()}
    wanted |= {rows.form for part in parts for rows in part.given}
    wanted |= {segments.host_form(tensor) for tensor in segments.host_reads}
    return [part.finish(wanted) for part in parts], forms
