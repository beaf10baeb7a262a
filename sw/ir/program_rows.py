"""The rows of a local memory and the operations that made what stands in them, for the verifier."""

from celosia.sw.ir.program import Op

__all__ = ["MadeRows"]


class MadeRows:
    """The rows of one local memory, and for each the number of the operation that has written it.

    Numbers count from 1 on, in each memory by itself.  Whoever reads or writes whole results
    of an operation, which nearly all do, takes a time that does not grow with the rows.
    """

    def __init__(self, rows: int):
        self.ops: dict[int, Op] = {}
        """The operations that have made something, by their numbers."""
        self.unused: set[int] = set()
        """Numbers of those whose rows nobody has read."""
        self._last = 0
        self._maker = [0] * rows
        """The number of the operation that made each row; 0: none."""
        self._whole: dict[int, tuple[int, int]] = {}
        """The rows that an operation has made, as long as all are its own, by its number: the first
        one, and the one behind the last."""

    def write(self, op: Op, *ranges: tuple[int, int]) -> int:
        """`op` overwrites rows: each range is the first one, and the one behind the last.

        Returns its number.  Raises `ValueError` if nobody has used what it overwrites, and no other
        row of that is left: of numerators that a mask leaves out, nobody uses all.
        """
        self._last += 1
        for first, end in ranges:
            self._check_range(first, end)
            number = self.one_maker(first, end)
            over = (number,) if number else set(self._maker[first:end])
            self._maker[first:end] = [self._last] * (end - first)
            for old in over:
                if old in self.unused and old not in self._maker:
                    raise ValueError(f"overwrites what nobody has used: {self.ops[old]}")
                self._whole.pop(old, None)
            self._whole[self._last] = first, end
        self.go_on(op, self._last)
        return self._last

    def go_on(self, op: Op, number: int) -> None:
        """`op` makes something new of all rows that are of `number`."""
        self.ops[number] = op
        self.unused.add(number)

    def one_maker(self, first: int, end: int) -> int:
        """The number of the operation that has made all these rows; 0: there is no such one."""
        if not 0 <= first < end <= len(self._maker):
            return 0
        number = self._maker[first]
        known = self._whole.get(number)
        if known and known[0] <= first and end <= known[1]:
            return number
        makers = self._maker[first:end]
        return number if makers.count(number) == len(makers) else 0

    def read(self, first: int, end: int) -> int:
        """The number of the operation that has made these rows.

        Raises `ValueError` if nobody has, or more than one.
        """
        number = self.one_maker(first, end)
        if not number:
            self._check_range(first, end)
            makers = sorted(set(self._maker[first:end]))
            if makers == [0]:
                raise ValueError(f"rows {first}..{end - 1} hold nothing")
            names = ", ".join(str(self.ops[m]) if m else "nobody" for m in makers)
            raise ValueError(f"rows {first}..{end - 1} are not of one operation: {names}")
        self.unused.discard(number)
        return number

    def touch(self, first: int, end: int) -> None:
        """Count all that is in these rows as read: it is looked at, but makes no difference."""
        self._check_range(first, end)
        self.unused.difference_update(self._maker[first:end])

    def _check_range(self, first: int, end: int) -> None:
        if not 0 <= first < end <= len(self._maker):
            raise ValueError(f"rows {first}..{end - 1} are not in 0..{len(self._maker) - 1}")
