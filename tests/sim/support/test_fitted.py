"""Tables in little room."""

import io

import pytest
from rich.console import Console

from celosia.sim.support.fitted import Column, FittedTable

COLUMNS = (
    Column("operator", "name"),
    Column("cycles"),
    Column("bytes", needless=2),
    Column("share", needless=1),
    Column("why", "text"),
)
NAMES = [f"/encoder/layer.{n}/attention/self/query/MatMul (MatMul)" for n in (1, 12)]
WHY = "it is behind a gather of the host"


def lines(width, shares=("[green]12.34%[/]", "[green]12.34%[/]")):
    table = FittedTable(columns=COLUMNS, title="a title", caption="a caption")
    for name, share in zip(NAMES, shares, strict=True):
        table.add_row(name, "0 of 123,456,789", "9,876,543,210", share, WHY)
    file = io.StringIO()
    Console(file=file, width=width).print(table)
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [45, 50, 60, 80, 100, 120, 200])
def test_numbers_are_whole_or_left_out_and_lines_fit(width):
    found = lines(width)
    text = "\n".join(found)
    assert all(len(line) <= width for line in found)
    assert text.count("0 of 123,456,789") == 2
    assert text.count("9,876,543,210") in {0, 2}
    assert text.count("12.34%") in {0, 2}
    assert "…" not in text
    left_out = "left out" in text
    assert left_out == ("9,876,543,210" not in text)


def test_names_keep_what_tells_them_apart():
    text = "\n".join(lines(80))
    assert ".../layer.1/.../self/query/MatMul" in text
    assert ".../layer.12/.../self/query/MatMul" in text
    assert NAMES[0] in "\n".join(lines(200))


def test_the_least_needed_column_goes_first():
    def heads(width):
        return next(line for line in lines(width) if "operator" in line)

    assert "bytes" in heads(200)
    assert "share" in heads(85)
    assert "bytes" not in heads(85)
    assert "share" not in heads(60)
    assert "why" in heads(60)


@pytest.mark.parametrize("width", [60, 200])
def test_a_column_without_a_word_is_not_shown_and_not_missed(width):
    empty, half = ("\n".join(lines(width, shares)) for shares in (("", ""), ("", "1%")))
    assert "share" not in empty
    assert "share" in half


def test_a_column_is_left_out_for_names_of_32_characters_and_no_longer_ones():
    """A line has four characters around two columns, and three between them."""
    for length, left_out in ((32, False), (33, False), (40, False)):
        table = FittedTable(columns=(Column("n", "name"), Column("five5", needless=1)))
        table.add_row("x" * length, "12345")
        assert len(table.fitted(2 + 32 + 3 + 5 + 2).columns) == 2 - left_out
        assert len(table.fitted(2 + 31 + 3 + 5 + 2).columns) == 1
