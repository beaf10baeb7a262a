"""How numbers of a page are compared with what a command prints."""

import pytest

from tests.documents.numbers import differences, missing, said, shown, table, wrong_rows

PRINTED = "│ 64x64x64 │ 1,250 │ 81.92% │\n│ 8x8x8 │ 1,909,412 │ -3 │\n"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("1,250 cycles, 81.92 %", []),
        ("1,251 cycles, 81.93 %", [1251, 81.93]),
        ("82 %, 81.9 %", []),
        ("81.0 %", [81.0]),
        ("1.909 M, 1,909 k, 1.91 M", []),
        ("1.908 M", [1_908_000]),
        ("64x64x64, -3, v1.2.3", []),
        ("3", [3]),
        ("125", [125]),
    ],
)
def test_a_number_is_there_with_as_many_digits_as_are_shown(text, wrong):
    assert missing(text, PRINTED) == pytest.approx(wrong)


def test_a_number_may_be_a_share_off():
    assert missing("about 1,300", PRINTED) == [1300]
    assert not missing("about 1,300", PRINTED, within=0.05)


def test_the_last_digit_is_that_of_the_unit():
    (million,) = shown("1.90 M")
    assert (million.value, million.digit) == (1.9e6, 1e4)


PAGE = """text

| M x N x K | cycles | share | of others |
|---|--:|--:|--:|
| 64x64x64 | 1,250 | 81.92 % | 77 |
| 8x8x8 | 1,909,412 | | |

| other |
"""


def test_the_rows_of_a_table_are_found_by_its_head():
    rows = table(PAGE, "| M x N x K |", ["M x N x K", "cycles", "share"])
    assert rows == ["64x64x64 | 1,250 | 81.92 %", "8x8x8 | 1,909,412 | "]
    assert table(PAGE, "| M x N x K |", ["cycles"], "8x8") == ["1,909,412"]
    with pytest.raises(AssertionError, match="no row"):
        table(PAGE, "| M x N x K |", ["cycles"], "9x9")
    with pytest.raises(AssertionError, match="cylces"):
        table(PAGE, "| M x N x K |", ["cylces"])


def test_the_numbers_of_a_row_are_together():
    assert not wrong_rows(["64x64x64 | 1,250 | 81.92 %", "8x8x8 | 1,909,412"], PRINTED)
    assert wrong_rows(["8x8x8 | 1,250"], PRINTED) == ["8x8x8 | 1,250"]


OUTPUT = "head  of all\n a │ 12 │ x\n b │ 13 │ y\nin 12.0 s, 3.5 MB\n"


@pytest.mark.parametrize(
    ("block", "wrong"),
    [
        (" a │ 12 │ x\n b  │  13 │ y", []),
        ("head of all\n...\nin 12.0 s, 3.5 MB", []),
        (" a │ 12 │ ...", []),
        (" a │ 13 │ ...", [" a │ 13 │ ..."]),
        (" b │ 13 │ y\n a │ 12 │ x", [" a │ 12 │ x"]),
        ("in 40.0 s, 1.0 MB", []),
        ("in 50.0 s, 3.5 MB", ["in 50.0 s, 3.5 MB"]),
        ("in 12.0 s, 0.8 MB", ["in 12.0 s, 0.8 MB"]),
    ],
)
def test_a_block_is_compared_line_by_line(block, wrong):
    assert differences(block, OUTPUT) == wrong


def test_numbers_in_words_are_found_in_the_page():
    text = "It takes 1,250\ncycles, 81.92 %, or\n1.9 M."
    assert said("takes # cycles, # %", text) == "1,250 | 81.92"
    assert said("or #.", text) == "1.9 M"
    for absent in ("took # cycles", "#"):
        with pytest.raises(AssertionError, match=absent):
            said(absent, text)
