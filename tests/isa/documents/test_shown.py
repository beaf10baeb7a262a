"""Tables for notebooks."""

from xml.etree import ElementTree

from celosia.isa.documents.shown import html_table


def test_a_table_has_its_cells_escaped_and_numbers_to_the_right():
    rows = [("<b>&", 12_345, None, True), ("x", 0.5, "7", False)]
    table = ElementTree.fromstring(html_table(("a", "b<c", "d", "e"), rows, "one & two"))
    assert table.findtext("caption") == "one & two"
    assert [each.text for each in table.iter("th")] == ["a", "b<c", "d", "e"]
    cells = [each.text for each in table.iter("td")]
    assert cells == ["<b>&", "12,345", "-", "True", "x", "0.5", "7", "False"]
    right = [each.text for each in table.iter("td") if each.get("style") == "text-align: right"]
    assert right == ["12,345", "0.5"]
    assert "caption" not in html_table(("a",), [])
