"""Lists and mappings of a record are operations of a region, each with the place of its error."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pytest

from celosia.sw.mlir.operation import print_operation
from celosia.sw.mlir.parser import parse_operation
from celosia.sw.mlir.regions import elements, operation_of, record_of


@dataclass(frozen=True)
class Cut:
    """One kind of step."""

    kind: Literal["cut"] = "cut"
    rows: int = 1


@dataclass(frozen=True)
class Fold:
    """Another kind of step."""

    kind: Literal["fold"] = "fold"


@dataclass(frozen=True)
class Sheet:
    """A record of one kind only."""

    cols: int


@dataclass(frozen=True, kw_only=True)
class Book:
    """Lists and mappings."""

    title: str
    steps: tuple[Cut | Fold, ...]
    sheets: tuple[Sheet, ...] = ()
    named: Mapping[str, Sheet] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    words: tuple[str, ...] = ()


BOOK = Book(
    title="b",
    steps=(Fold(), Cut(rows=2), Fold()),
    sheets=(Sheet(3),),
    named={"x y": Sheet(4)},
    counts={"n": 5},
    words=("w",),
)
TEXT = """"book"() ({
  "book.fold"() {kind = "fold"} : () -> ()
  "book.cut"() {kind = "cut", rows = 2 : i64} : () -> ()
  "book.fold"() {kind = "fold"} : () -> ()
  "book.sheets"() {cols = 3 : i64} : () -> ()
  "book.named"() {at = "x y", cols = 4 : i64} : () -> ()
  "book.counts"() {at = "n", value = 5 : i64} : () -> ()
}) {title = "b", words = ["w"]} : () -> ()
"""


def read(text, **given):
    return record_of(parse_operation(text), Book, {}, given)


def test_a_record_is_an_operation_with_a_line_for_each_element_and_comes_back():
    assert print_operation(operation_of(BOOK, "book", {})) == TEXT
    assert read(TEXT) == BOOK


def test_fields_that_are_left_out_have_no_operations_and_are_given():
    operation = operation_of(BOOK, "book", {}, ["steps", "counts"])
    names = {each.name for each in operation.regions[0]}
    assert names == {"book.sheets", "book.named"}
    assert set(elements(Book, "book", ["steps", "counts"])) == names
    again = record_of(operation, Book, {}, {"steps": BOOK.steps, "counts": BOOK.counts})
    assert again == BOOK


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("rows = 2 : i64", "rows = 2.5 : f64", "line 3, column 3: book.cut: steps.rows: 2.5 is no"),
        ("book.sheets", "book.pages", "line 5, column 3: book.pages: it is none of book.cut, "),
        ('at = "x y", ', "", "line 6, column 3: book.named: at: None is no str"),
        ("value = 5", "number = 5", "line 7, column 3: book.counts: it has number, not value"),
        ('title = "b", ', "", "line 1, column 1: book: Book.title is missing"),
        ('words = ["w"]', "steps = []", "line 1, column 1: book: steps is no attribute"),
        ('kind = "cut"', 'kind = "fold"', "line 3, column 3: book.cut: steps.kind: 'fold' is none"),
    ],
)
def test_what_is_wrong_has_a_place(before, after, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        read(TEXT.replace(before, after, 1))


def test_a_key_stands_once():
    line = '  "book.counts"() {at = "n", value = 5 : i64} : () -> ()\n'
    with pytest.raises(ValueError, match=r"^line 8, column 3: book.counts: at: 'n' is given twice"):
        read(TEXT.replace(line, 2 * line))
