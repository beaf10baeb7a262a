"""What products multiply, and what other numbers in each of them would do."""

from typing import Final

from rich.markup import escape

from celosia.sim.support.fitted import Column, FittedTable
from celosia.sim.workloads.models.precision import PrecisionChoice
from celosia.sw.quantize.precision import Numbers

__all__ = ["precision_table"]

_PRODUCT: Final = (
    Column("product", "name"),
    Column("inputs", needless=3),
    Column("outputs", needless=2),
)
_COLUMNS: Final = {
    Numbers.INT4: (Column("int4 alone"), Column("cycles saved"), Column("weights", "text")),
    Numbers.INT16: (Column("int16 alone"), Column("cycles more"), Column("operand", "text")),
}
"""What is said of each product, by what was tried."""


def precision_table(choice: PrecisionChoice) -> FittedTable:
    """A row for each product: SQNR and cycles with other numbers in it alone, and what it got."""
    table = FittedTable(
        columns=(*_PRODUCT, *_COLUMNS[choice.tried]),
        caption=escape(
            f"all int8: {choice.eight.sqnr_db:.1f} dB, {choice.eight.cycles:,} predicted cycles; "
            f"chosen: {choice.chosen.sqnr_db:.1f} dB, {choice.chosen.cycles:,}"
        ),
    )
    for each in choice.products:
        alone = "" if each.sqnr_db is None else f"{each.sqnr_db:.1f} dB"
        kind = each.kind.name.lower()
        cycles = -each.saved if choice.tried.wide else each.saved
        table.add_row(
            each.name, f"{each.inputs:,}", f"{each.outputs:,}", alone, f"{cycles:,}", kind
        )
    return table
