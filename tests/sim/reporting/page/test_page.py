"""The page of a run, as text; `test_browser.py` looks at it in a browser."""

import json
import re
from html.parser import HTMLParser

import pytest

from celosia.sim.reporting.page.html import Name, paragraph, table
from celosia.sim.reporting.page.page import page

VOID = {"meta", "link", "wbr"}


class Outline(HTMLParser):
    """Identifiers, references, and whether elements close in order."""

    def __init__(self):
        super().__init__()
        self.open, self.names, self.links, self.outside = [], [], [], []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.names += [values["id"]] if "id" in values else []
        link = values.get("href") or values.get("src")
        if link:
            (self.links if link.startswith("#") else self.outside).append(link)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def text(document):
    return page(document)


@pytest.fixture(scope="module")
def outline(text):
    parser = Outline()
    parser.feed(text)
    assert parser.open == []
    return parser


def test_it_needs_nothing_else(outline):
    assert outline.outside == ["data:,"]


def test_links_lead_to_sections(outline):
    assert len(outline.links) == 10
    assert {link[1:] for link in outline.links} <= set(outline.names)
    assert len(set(outline.names)) == len(outline.names)


def test_every_figure_has_a_place_and_the_other_way_round(text, outline):
    found = re.search(r'<script id="report-data"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert found
    data = json.loads(found[1])
    places = {name for name in outline.names if name.startswith("figure-")}
    assert places == {f"figure-{name}" for name in (*data["figures"], "timeline")}


def test_it_says_how_to_run_it_again(text, document):
    assert "celosia run matmul --shape 13x9x10" in text
    assert f"<th>dim</th><td>{document['config']['dim']}</td>" in text
    assert document["versions"]["amaranth"] in text
    assert "[[stages]]" in text  # The plan.


def test_without_a_log_there_is_a_page_too(document):
    text = page({**document, "profile": None})
    assert 'id="figure-timeline"' not in text
    assert 'id="figure-stalls-array"' in text


def test_texts_are_escaped(document):
    text = page({**document, "workload": "<script>alert(1)</script>"})
    assert "<script>alert" not in text
    assert paragraph("a < b & c") == "<p>a &lt; b &amp; c</p>"
    assert "1,234" in table(("n",), [(1234,)])


def test_nothing_is_left_to_be_drawn_later(text):
    """What is unpacked in the background is missing where a page is printed at once."""
    script = text[text.rindex("<script>") :]
    assert "inflate(" in script
    assert "await " not in script
    assert "DecompressionStream" not in script


@pytest.fixture
def model(document):
    node = {"name": "/embeddings/Add", "operator": "Add", "cycles": 900}
    output = {
        "name": "last_hidden_state",
        "sqnr_db": 22.46,
        "exact_sqnr_db": 23.0,
        "cosine": 0.998,
        "top1": None,
        "rows": {"counted": 5, "of": 8, "spans": [[0, 4]], "elements": False},
        "all_rows_sqnr_db": 14.1,
        "all_rows_cosine": 0.95,
        "pooled_cosine": 0.9964,
    }
    return {
        **document,
        "workload": "minilm.onnx",
        "placement": {
            "accelerator_mac_share": 1.0,
            "predicted": {
                "accelerator_cycles": 100,
                "host_cycles": 900,
                "accelerator_time_share": 0.1,
                "host_nodes": [node],
            },
            "nodes": [],
        },
        "outputs": [output],
        "host": {"gather": 2, "add": 1},
        "notes": ["calibrated on <random> data"],
    }


def test_a_model_is_named_with_its_distance_and_its_host(model):
    text = page(model)
    assert "<title>minilm.onnx on " in text
    assert '<b class="">22.5 dB</b><span>SQNR of last_hidden_state</span>' in text
    assert "<th>pooled cosine</th><td>0.99640</td>" in text
    assert "5 of 8 rows, those of tokens that somebody sees; all: 14.1 dB" in text
    assert "On the host: 3 operators: 2 gather, 1 add." in text
    assert "100.00% of the multiply-accumulates, and 10.00% of the predicted time," in text
    assert "90.00%" in text
    assert "Note: calibrated on &lt;random&gt; data" in text


def test_a_run_that_is_no_model_has_no_section_of_one(text):
    assert 'id="model"' not in text
    assert "operators on the host" not in text


def test_names_are_cut_where_a_page_is_narrow():
    (cell,) = re.findall(
        "<td>(.*)</td>", table(("a",), [[Name("/encoder/layer.0/self/query/Add")]])
    )
    wide, narrow = re.findall("<span class=.*?>(.*?)</span>", cell)
    assert wide == "/encoder/layer.0/self/query/Add"
    assert len(narrow) <= 28
    assert narrow.endswith("query/Add")


def test_a_column_of_numbers_stands_to_the_right_where_one_is_not_known():
    rows = [[1234, "7,250", "-0.03 %", "array"], [None, "-", "1e-05", "-"]]
    text = table(("cycles", "paper", "off", "unit"), rows)
    found = ["1,234", "7,250", "-0.03 %", "-", "-", "1e-05"]
    assert re.findall('<td class="number">(.*?)</td>', text) == found
    assert 'class="number"' not in table(("shape",), [["64x64x64"], ["3 of 4"]])


def test_long_words_are_broken_behind_an_underscore_first():
    assert "<td>wait_<wbr>queue_<wbr>store&lt;</td>" in table(("owner",), [["wait_queue_store<"]])


def test_operators_of_single_instructions_are_cut_where_a_page_is_narrow(text):
    rows = re.search('id="hottest".*?</table>', text, re.DOTALL)
    assert rows
    body = rows[0].split("<tbody>\n")[1]
    assert body.count('<span class="narrow">') == body.count("<tr>") > 0


def test_the_twenty_hottest_instructions_are_shown(text):
    rows = re.search('id="hottest".*?</table>', text, re.DOTALL)
    assert rows
    assert rows[0].split("<tbody>\n")[1].count("<tr>") == 20
