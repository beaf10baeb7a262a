"""Small pieces of HTML, as a browser gets them."""

import pytest

from celosia.sim.reporting.page.html import (
    Below,
    Link,
    Name,
    definition_table,
    paragraph,
    preformatted,
    section,
    table,
    tile,
)


def test_texts_are_escaped():
    assert paragraph("a < b") == "<p>a &lt; b</p>"
    assert paragraph("&", "small") == '<p class="small">&amp;</p>'
    assert preformatted("<pre>") == "<pre>&lt;pre&gt;</pre>"
    assert tile("<1>", "a & b", "bad") == (
        '<div class="tile"><b class="bad">&lt;1&gt;</b><span>a &amp; b</span></div>'
    )


def test_a_section_may_be_long():
    assert section("s", "<H>", "one", "two") == (
        '<section id="s">\n<h2>&lt;H&gt;</h2>\none\ntwo\n</section>'
    )
    assert section("s", "H", long=True).startswith('<section id="s" class="long">')


@pytest.mark.parametrize(
    ("cell", "text", "numeric"),
    [
        (1234, "1,234", True),
        (0.5, "0.5", True),
        (None, "-", True),
        ("-", "-", True),
        ("+1,234.5 %", "+1,234.5 %", True),
        ("-1e-05", "-1e-05", True),
        ("12 cycles", "12 cycles", False),
        ("a_b", "a_<wbr>b", False),
        ("", "", False),
        (Link("a<", "#b&"), '<a href="#b&amp;">a&lt;</a>', False),
        (Below("a<", "b<"), "<span>a&lt;</span><small>b&lt;</small>", False),
    ],
)
def test_a_cell_and_where_it_stands(cell, text, numeric):
    kind = ' class="number"' if numeric else ""
    found = table(["head"], [[cell]])
    assert f"<th{kind}>head</th>" in found
    assert f"<tr><td{kind}>{text}</td></tr>" in found


def test_one_text_puts_a_column_to_the_left_and_no_row_is_no_number():
    assert "number" not in table(["h"], [[1], ["x"]])
    assert "number" not in table(["h"], [])


def test_rows_may_have_names():
    assert '<tr id="a&amp;"><td' in table(["h"], [["x"]], ["a&"])


def test_a_long_name_has_two_widths():
    name = "/encoder/layer.0/attention/query"
    found = table(["h"], [[Name(name)]])
    assert f'<span class="wide">{name}</span>' in found
    narrow = found.partition('<span class="narrow">')[2].partition("</span>")[0]
    assert len(narrow) <= 28
    assert narrow.endswith("/query")
    assert "layer.0" in narrow


def test_definitions_are_names_and_values():
    found = definition_table([("right", True), ("wrong", False), ("n", 1000), ("none", None)])
    for name, text in (("right", "yes"), ("wrong", "no"), ("n", "1,000"), ("none", "-")):
        assert f"<tr><th>{name}</th><td>{text}</td></tr>" in found
