"""The row whose statistics stand in each slot, followed step by step."""

from celosia.sw.ir.graph import View
from celosia.sw.ir.program import Transform

__all__ = ["Statistics"]


class Statistics:
    """The row that each slot is of.

    Softmax and normalization of a row take several transforms, of which some are deferred.  If
    another row took the slot in between, all would work, with a wrong result: so it is an error of
    the compiler here.
    """

    def __init__(self) -> None:
        self._rows: dict[int, tuple[str, int]] = {}
        """The tensor and the row that each slot is of, by the slot."""

    def follow(self, op: Transform, counted: View | None) -> None:
        """Make sure that `op`, if it uses statistics, begins those of `counted` or finds them."""
        if "statistics" not in op.settings:
            return
        assert counted is not None, f"{op}: uses statistics of no rows"
        for index in range(counted.rows):
            slot, row = op.settings["statistics"] + index, (counted.tensor, counted.row + index)
            if op.begins_statistics:
                self._rows[slot] = row
            found = self._rows.get(slot)
            assert found == row, f"{op}: statistics {slot} are of {found}, not of {row}"
