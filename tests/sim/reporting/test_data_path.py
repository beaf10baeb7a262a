"""The picture of the data path: boxes lead to files, and no block of the top is missing."""

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

from celosia.isa.documents.svg import CHARACTER
from celosia.sim.reporting.data_path import BLOCKS, data_path

ROOT = Path(__file__).parents[3]
PICTURE = ROOT / "docs/images/data-path.svg"
SVG = "{http://www.w3.org/2000/svg}"


def test_every_box_leads_to_a_file():
    links = [each.get("href", "") for each in ElementTree.parse(PICTURE).iter(f"{SVG}a")]
    assert len(links) == len(BLOCKS)
    for link in links:
        assert (PICTURE.parent / link).resolve().is_file(), link
        assert (PICTURE.parent / link).resolve().is_relative_to(ROOT / "hw")


def test_the_picture_is_the_one_in_the_documents():
    assert str(data_path("../../")) == PICTURE.read_text(), "run `celosia docs`"


def test_every_block_of_the_top_is_drawn():
    top = (ROOT / "hw/accelerator.py").read_text()
    named = set(re.findall(r"m\.submodules\.(\w+) =", top))
    assert {"decoder", "scratchpad", "transform"} <= named
    assert named <= set(BLOCKS)
    shown = {each.text for each in ElementTree.parse(PICTURE).iter(f"{SVG}text")}
    assert {block.title for block in BLOCKS.values()} <= shown


def test_boxes_stand_apart_and_have_room_for_their_text():
    background, *boxes = ElementTree.fromstring(str(data_path(""))).iter(f"{SVG}rect")
    keys = ("x", "y", "width", "height")
    places = [tuple(float(box.get(key, "")) for key in keys) for box in boxes]
    for (x, y, width, height), (left, top, *_) in combinations(places, 2):
        assert abs(x - left) >= width or abs(y - top) >= height
    assert float(background.get("width", "")) > max(x + width for x, _, width, _ in places)
    longest = max(len(text) for each in BLOCKS.values() for text in (each.title, each.says))
    assert longest * CHARACTER < places[0][2]
