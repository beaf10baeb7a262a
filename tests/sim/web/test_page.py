"""The page as text: all in one file, and what is said where it cannot be made."""

import base64
import gzip
import json
import re

import pytest

from celosia.isa.encoding import FENCE, pack_ring
from celosia.sim.profile.resources import RESOURCES
from celosia.sim.reporting.page.palette import group_color
from celosia.sim.web import page
from celosia.sim.web.page import build_page, page_text
from celosia.sim.web.programs import PROGRAMS
from celosia.sim.web.recorded import Recording, WrongResultError
from celosia.sim.web.text.document import TextPart
from celosia.sw.decoding.comparison import DifferenceError

MODULE = b"\0asm and more"
RECORDING = Recording(memory=bytes(range(64)), commands=(FENCE.encode(),), cycles=7, digest="ab")


@pytest.fixture(scope="module")
def text():
    return page_text({"tiny": MODULE}, {"tiny": dict.fromkeys(PROGRAMS, RECORDING)})


@pytest.fixture(scope="module")
def data(text):
    found = re.search(r'<script id="page-data" type="application/json">(.*?)</script>', text)
    assert found
    return json.loads(found[1])


def unpacked(text):
    return gzip.decompress(base64.b64decode(text))


def test_a_module_is_in_the_page_as_it_is(text):
    found = re.search(r'id="module-tiny">([^<]*)</script>', text)
    assert found
    assert unpacked(found[1]) == MODULE


def test_programs_are_in_the_page_with_what_was_recorded(data):
    assert list(data["presets"]) == ["tiny"]
    for program in data["presets"]["tiny"]["programs"].values():
        assert unpacked(program["memory"]) == RECORDING.memory
        assert unpacked(program["commands"]) == pack_ring(RECORDING.commands)
        assert (program["cycles"], program["digest"], program["count"]) == (7, "ab", 1)
    assert data["presets"]["tiny"]["programs"].keys() == data["titles"].keys()


def test_nothing_is_loaded_from_elsewhere(text):
    assert not re.search(r"https?:", text)
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    assert not re.search(r"\bfetch\(|\bimport\(|XMLHttpRequest", text)


def test_scripts_end_where_their_elements_do(text):
    assert text.count("<script") == text.count("</script>") == 4


def test_units_have_the_owners_and_colors_of_a_report(data):
    assert [unit["unit"] for unit in data["units"]] == [table.unit for table in RESOURCES.values()]
    for (name, table), unit in zip(RESOURCES.items(), data["units"], strict=True):
        owners = {owner: doc for group in unit["groups"] for owner, doc in group["owners"].items()}
        assert owners == {owner.name: owner.doc for owner in table.owners}
        for group in unit["groups"]:
            assert group["color"] == group_color(name, group["name"])
            assert group["works"] == (group["name"] in table.work)


PART = TextPart(document={"example": "</script>"}, data=bytes(range(200)), parameters=1_234_567)


def test_a_text_is_in_the_page_with_its_bytes():
    recorded = {"tiny": dict.fromkeys(PROGRAMS, RECORDING)}
    text = page_text({"tiny": MODULE}, recorded, text=PART)
    found = re.search(r'id="text-data">([^<]*)</script>', text)
    assert found
    assert unpacked(found[1]) == PART.data
    assert "A language model of 1,234,567 parameters" in text
    assert '<a href="#text">' in text
    assert text.count("<script") == text.count("</script>") == 5


def test_a_wrong_text_makes_no_page(monkeypatch):
    def differs(*_, **__):
        raise DifferenceError("0.sum: 3 of 128 elements in memory are not those of the graph")

    monkeypatch.setattr(page, "_programs", lambda _: ({}, {}))
    monkeypatch.setattr(page, "shipped_source", lambda _: None)
    monkeypatch.setattr(page, "text_part", differs)
    with pytest.raises(WrongResultError, match=r"language model: 0\.sum: 3 of 128 elements"):
        build_page()
    assert 'id="text-data"' not in build_page(text=False)


def test_the_same_page_is_made_again(text):
    again = page_text({"tiny": MODULE}, {"tiny": dict.fromkeys(PROGRAMS, RECORDING)})
    assert again == text
