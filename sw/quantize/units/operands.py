"""Finds what units read: rectangles of values, through reshapes, transposes and slices.

Where an operand is not a rectangle of what a unit computes, it is a value of the host, which does
the rest.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.views import element_numbers, numbered
from celosia.sw.ir.graph import View
from celosia.sw.quantize.units.values import Value
from celosia.sw.reference.encoder import Floats

__all__ = ["Operands", "Refused", "rectangle"]


class Refused(Exception):
    """The reason why a node is no unit."""


class Operands:
    """The values of a graph that are known so far."""

    def __init__(self, reader: Reader):
        self.reader = reader
        self.values: dict[str, Value] = {}
        self._made: dict[str, Value] = {}
        self._places: dict[str, Array] = {}
        self._tables: dict[bytes, str] = {}
        """The first of constants that are equal, by their bytes."""

    def made(self, value: Value) -> None:
        """Take note of a value that a unit computes."""
        self.values[value.key] = self._made[value.tensor] = value

    def forget(self, value: Value) -> None:
        """Leave out a value that is a part of another one, and what is added to its scores."""
        del self.values[value.key], self._made[value.tensor]
        for key in [key for key, each in self.values.items() if each.scores == value.tensor]:
            del self.values[key]

    def rows(self, name: str) -> View:
        """A tensor as rows of its last axis."""
        return self.made_rows(name) or self._host(Value(name))

    def made_rows(self, name: str) -> View | None:
        """A tensor as rows of its last axis, if they are a rectangle of what a unit computes."""
        found = self._source(name)
        if found is None:
            return None
        value, numbers = found
        matrix = numbers.reshape(-1, numbers.shape[-1])
        place = rectangle(self._numbered(value), matrix)
        return None if place is None else View(value.key, *place, *matrix.shape)

    def made_heads(self, name: str) -> list[list[View]] | None:
        """What `heads` finds, if a unit computes it."""
        found = self._source(name)
        return None if found is None else self._head_views(*found)

    def heads(self, name: str) -> list[list[View]]:
        """A tensor (batch, heads, rows, columns) as a rectangle for each text and head.

        Of the host's values, one in which all heads of a token are a row comes first, so that it
        is the same one for any number of tokens.
        """
        *given, itself = self._candidates(name, Value(name, heads=True))
        given.sort(key=lambda each: not self._is_by_tokens(*each))
        return next(
            views
            for value, numbers in (*given, itself)
            if (views := self._head_views(value, numbers)) is not None
        )

    def _is_by_tokens(self, value: Value, numbers: Array) -> bool:
        if value.tensor in self._made:
            return True
        rows, _ = np.nonzero(np.isin(self._numbered(value), numbers[0, :, 0, 0]))
        return len(set(rows.tolist())) == 1

    def _head_views(self, value: Value, numbers: Array) -> list[list[View]] | None:
        places = self._numbered(value)
        corners = [[rectangle(places, head) for head in text] for text in numbers]
        rows, cols = numbers.shape[2:]
        views = [
            [View(value.key, *corner, rows, cols) for corner in text if corner is not None]
            for text in corners
        ]
        if sum(map(len, views)) < numbers.shape[0] * numbers.shape[1]:
            return None
        self.values.setdefault(value.key, value)
        return views

    def columns(self, name: str) -> tuple[View, ...]:
        """Rows as rectangles beside each other of what a unit computes, or of the host's."""
        return next(
            views
            for value, numbers in self._candidates(name, Value(name))
            if (views := self._column_views(value, numbers)) is not None
        )

    def _column_views(self, value: Value, numbers: Array) -> tuple[View, ...] | None:
        places, matrix = self._numbered(value), numbers.reshape(-1, numbers.shape[-1])
        row = int(np.argwhere(places == matrix[0, 0])[0, 0])
        order = np.argsort(places[row])
        at = order[np.searchsorted(places[row], matrix[0], sorter=order) % len(order)]
        if not np.array_equal(places[row : row + len(matrix), at], matrix):
            return None
        self.values.setdefault(value.key, value)
        starts = np.flatnonzero(np.diff(at, prepend=-2) != 1).tolist()
        ends = [*starts[1:], len(at)]
        return tuple(
            View(value.key, row, int(at[start]), len(matrix), end - start)
            for start, end in zip(starts, ends, strict=True)
        )

    def _candidates(self, name: str, itself: Value) -> Iterator[tuple[Value, Array]]:
        """Values of which a tensor may be rectangles, with the numbers of its elements there.

        First that of a unit, else the host's tensor that it is a view of: attention and a cache
        then read the same value, whatever the views between.  Last the tensor `itself`.
        """
        source, _ = self.reader.chain(name)
        kind = self.reader.type(source)
        if source in self._made:
            values = [self._made[source]]
        else:
            values = [Value(source)] if kind.rank else []
            if kind.rank == 4:
                values += [Value(source, heads=True), Value(source, rows=True)]
        found = element_numbers(self.reader, name)
        if found is not None and found[1].ndim and found[1].size:
            yield from ((value, found[1]) for value in values)
        yield itself, numbered(self.reader.type(name).shape)

    def scores(self, value: Value) -> View:
        """All of what the host adds to scores."""
        return self._host(value)

    def scores_of(self, onto: View | None, attention: str) -> View | None:
        """What is added to scores, for an `attention` that the one it was for is a part of."""
        if onto is None:
            return None
        value = replace(self.values[onto.tensor], scores=attention)
        self.values.setdefault(value.key, value)
        return replace(onto, tensor=value.key)

    def table(self, name: str) -> View:
        """A tensor as rows of its last axis; constants that are equal are the same rows."""
        value = self.reader.value(name)
        if value is None:
            return self.rows(name)
        return self._host(Value(self._tables.setdefault(value.tobytes(), name)))

    def unit_behind(self, name: str) -> str | None:
        """The tensor of a unit whose elements are all of `name`'s, in the same rows."""
        found = self._source(name)
        if found is None:
            return None
        value, numbers = found
        matrix = numbers.reshape(-1, numbers.shape[-1])
        return value.tensor if np.array_equal(self._numbered(value), matrix) else None

    def _source(self, name: str) -> tuple[Value, Array] | None:
        source, _ = self.reader.chain(name)
        found = element_numbers(self.reader, name) if source in self._made else None
        if found is None or not found[1].ndim or not found[1].size:
            return None
        return self._made[source], found[1]

    def _numbered(self, value: Value) -> Array:
        if value.key not in self._places:
            self._places[value.key] = value.matrix(numbered(self.reader.type(value.tensor).shape))
        return self._places[value.key]

    def _host(self, value: Value) -> View:
        self.values.setdefault(value.key, value)
        return value.whole(self.reader.type(value.tensor))

    def factors(self, behind: Node, size: int) -> Floats | None:
        """The known vector that `behind` multiplies columns by."""
        if behind.op != "mul":
            return None
        for name in behind.inputs:
            value = self.reader.value(name)
            if value is not None and value.size == size and value.shape[-1:] == (size,):
                return value.reshape(-1).astype(np.float32)
        return None

    def bias(self, name: str, behind: Node, size: int) -> Floats | None:
        """The known vector that `behind` adds to the tensor `name`; it may be stored once a row."""
        left, right = behind.inputs[0], behind.inputs[-1]
        if behind.op not in {"add", "sub"} or (behind.op == "sub" and left != name):
            return None
        value = self.reader.value(left if right == name else right)
        if value is None or (value.size > 1 and value.shape[-1:] != (size,)):
            return None
        rows = value.reshape(-1, size if value.size > 1 else 1)
        if not (rows == rows[:1]).all():
            return None
        bias = np.broadcast_to(rows[0], size).astype(np.float32)
        return -bias if behind.op == "sub" else bias


def rectangle(places: Array, wanted: Array) -> tuple[int, int] | None:
    """Where the numbers `wanted` stand in a row and a column of `places`; None: not together.

    No number stands in `places` twice.
    """
    first = wanted[0, 0]
    row, col = divmod(int(first), places.shape[1])
    if row >= len(places) or places[row, col] != first:  # Heads do not stand in this order.
        found = np.argwhere(places == first)
        if len(found) != 1:
            return None
        row, col = map(int, found[0])
    rows, cols = wanted.shape
    part = places[row : row + rows, col : col + cols]
    return (row, col) if part.shape == wanted.shape and (part == wanted).all() else None
