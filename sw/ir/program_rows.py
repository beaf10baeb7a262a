"""The rows of a local memory, and the operations that made what stands in them."""

from bisect import bisect_left, bisect_right

from celosia.sw.ir.program import Op

__all__ = ["Latest", "MadeRows"]


class Latest:
    """A number for each row of a memory, kept for stretches of rows that have the same one."""

    def __init__(self, none: int):
        """All rows have the number `none`."""
        self._begins, self._numbers = [0], [none]

    def __contains__(self, number: int) -> bool:
        return number in self._numbers

    def within(self, first: int, end: int) -> list[int]:
        """The numbers of these rows."""
        if first == end:
            return []
        begin = bisect_right(self._begins, first) - 1
        return self._numbers[begin : bisect_left(self._begins, end, begin)]

    def put(self, first: int, end: int, number: int) -> None:
        """Give these rows a number."""
        if first == end:
            return
        begins, numbers = self._begins, self._numbers
        begin = bisect_left(begins, first)
        behind = bisect_left(begins, end, begin)
        new, values = [first], [number]
        if behind == len(begins) or begins[behind] != end:
            new, values = [first, end], [number, numbers[behind - 1]]
        begins[begin:behind], numbers[begin:behind] = new, values


class MadeRows:
    """The rows of one local memory, and for each the number of the operation that has written it.

    Numbers count from 1 on, in each memory by itself.
    """

    def __init__(self, rows: int):
        self.ops: dict[int, Op] = {}
        """The operations that have made something, by their numbers."""
        self.unused: set[int] = set()
        """Numbers of those whose rows nobody has read."""
        self._rows = rows
        self._last = 0
        self._makers = Latest(0)
        """The number of the operation that made each row; 0: none."""

    def write(self, op: Op, *ranges: tuple[int, int]) -> int:
        """`op` overwrites rows: each range is the first one, and the one behind the last.

        Returns its number.  Raises `ValueError` if nobody has used what it overwrites, and no other
        row of that is left: of numerators that a mask leaves out, nobody uses all.
        """
        self._last += 1
        for first, end in ranges:
            over = self._makers_of(first, end)
            self._makers.put(first, end, self._last)
            for old in over & self.unused:
                if old not in self._makers:
                    raise ValueError(f"overwrites what nobody has used: {self.ops[old]}")
        self.go_on(op, self._last)
        return self._last

    def go_on(self, op: Op, number: int) -> None:
        """`op` makes something new of all rows that are of `number`."""
        self.ops[number] = op
        self.unused.add(number)

    def read(self, first: int, end: int) -> int:
        """The number of the operation that has made these rows.

        Raises `ValueError` if nobody has, or more than one.
        """
        makers = self._makers_of(first, end)
        if makers == {0}:
            raise ValueError(f"rows {first}..{end - 1} hold nothing")
        if len(makers) > 1:
            names = ", ".join(str(self.ops[m]) if m else "nobody" for m in sorted(makers))
            raise ValueError(f"rows {first}..{end - 1} are not of one operation: {names}")
        self.unused -= makers
        return makers.pop()

    def touch(self, first: int, end: int) -> None:
        """Count all that is in these rows as read: it is looked at, but makes no difference."""
        self.unused -= self._makers_of(first, end)

    def are_of(self, number: int, first: int, end: int) -> bool:
        """Whether all these rows have been made by the operation of this number."""
        return self._makers_of(first, end) == {number}

    def _makers_of(self, first: int, end: int) -> set[int]:
        """The numbers of what made these rows.  Raises `ValueError` if there are none."""
        if not 0 <= first < end <= self._rows:
            raise ValueError(f"rows {first}..{end - 1} are not in 0..{self._rows - 1}")
        return set(self._makers.within(first, end))
