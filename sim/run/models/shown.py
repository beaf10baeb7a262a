"""Functions that run on the accelerator, as notebooks show them."""

from collections.abc import Mapping

from celosia.isa.documents.shown import html_table
from celosia.sim.run.outcome import Outcome

__all__ = ["function_html"]


def function_html(inputs: Mapping[str, tuple[str, tuple[int, ...]]], last: Outcome | None) -> str:
    """Tables of the inputs, each with its type and shape, and of what the last call has shown."""
    rows = [(name, kind, "x".join(map(str, shape))) for name, (kind, shape) in inputs.items()]
    table = html_table(("input", "type", "shape"), rows)
    return table if last is None else f"{table}\n{last._repr_html_()}"
