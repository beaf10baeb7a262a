"""Drawings: valid XML whatever the texts are, as large as what is in them."""

from xml.etree import ElementTree

from celosia.isa.documents.svg import Drawing, beneath

SVG = "{http://www.w3.org/2000/svg}"
BAD = "<script>alert('1 & 2')</script>\""


def drawn(drawing: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(str(drawing))


def test_texts_are_escaped():
    drawing = Drawing()
    drawing.text(4, 16, BAD, bold=True)
    drawing.box(0, 0, 10, 10, title=BAD, link=f"a.html?{BAD}")
    root = drawn(drawing)
    assert root.find(f".//{SVG}script") is None
    assert [each.text for each in root.iter(f"{SVG}text")] == [BAD]
    assert [each.text for each in root.iter(f"{SVG}title")] == [BAD]
    assert [each.get("href") for each in root.iter(f"{SVG}a")] == [f"a.html?{BAD}"]


def test_a_drawing_has_room_for_all_of_it():
    drawing = Drawing()
    drawing.box(10, 20, 30, 40)
    drawing.line([(0, 0), (50, 10)], arrow=True)
    root = drawn(drawing)
    assert (root.get("width"), root.get("height")) == ("58", "68")
    assert root.get("viewBox") == "0 0 58 68"
    drawing.text(0, 80, "x" * 100)
    assert drawing.width >= 700
    assert drawing.height >= 80
    middle = Drawing()
    middle.text(100, 10, "xx", middle=True)
    assert 100 < middle.width < 110


def test_drawings_stand_below_each_other():
    first, second = Drawing(), Drawing()
    first.box(0, 0, 10, 20)
    second.box(0, 0, 30, 40)
    whole = beneath([first, second], space=5)
    assert (whole.width, whole.height) == (30, 65)
    groups = [each.get("transform") for each in drawn(whole).iter(f"{SVG}g")]
    assert groups == ["translate(0 0)", "translate(0 25)"]
    assert drawn(beneath([])).get("width") == "8"
