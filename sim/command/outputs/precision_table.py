"""Which products have which weights, and what int4 in each of them would do."""

from typing import Final

from rich.markup import escape

from celosia.sim.support.fitted import Column, FittedTable
from celosia.sim.workloads.models.precision import PrecisionChoice

__all__ = ["precision_table"]

_COLUMNS: Final = (
    Column("product", "name"),
    Column("inputs", needless=3),
    Column("outputs", needless=2),
    Column("int4 alone"),
    Column("cycles saved"),
    Column("weights", "text"),
)


def precision_table(choice: PrecisionChoice) -> FittedTable:
    """A row for each product: SQNR and cycles with int4 weights in it alone, and what it got."""
    table = FittedTable(
        columns=_COLUMNS,
        caption=escape(
            f"all int8: {choice.eight.sqnr_db:.1f} dB, {choice.eight.cycles:,} predicted cycles; "
            f"chosen: {choice.chosen.sqnr_db:.1f} dB, {choice.chosen.cycles:,}"
        ),
    )
    for each in choice.products:
        alone = "" if each.sqnr_db is None else f"{each.sqnr_db:.1f} dB"
        kind = each.kind.name.lower()
        table.add_row(
            each.name, f"{each.inputs:,}", f"{each.outputs:,}", alone, f"{each.saved:,}", kind
        )
    return table
