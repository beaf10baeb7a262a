"""The survey's page: its table as text, and in a browser as wide as a telephone."""

import json
import re

import pytest

from celosia.lab.survey.page import survey_page
from celosia.lab.survey.parts.values import Scope
from celosia.lab.survey.store import RunStore
from celosia.lab.survey.survey import chosen_studies, run_survey
from celosia.sim.reporting.page.browser import page_source
from celosia.sim.run.origin import as_json
from celosia.sim.support.progress import silent
from celosia.sim.verilator.doctor import absence

MISSING = absence("chromium")

# Tells how many tables of a page have to be moved sideways in a frame of the width of a phone.
FRAME = """<!DOCTYPE html><iframe id="frame" width="390" height="844"></iframe><script>
const frame = document.getElementById("frame");
frame.srcdoc = %s;
frame.onload = () => setInterval(() => {
  const tables = [...frame.contentDocument.querySelectorAll(".scroll")];
  document.body.dataset.tables = tables.length;
  document.body.dataset.wide = tables.filter((each) => each.scrollWidth > each.clientWidth).length;
}, 200);
</script>"""


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    studies = chosen_studies("tab3,tab4,tab5,inconsistencies")
    store = RunStore(tmp_path_factory.mktemp("runs"))
    return json.loads(as_json(run_survey(studies, Scope(), store, [], silent).document()))


def test_settings_that_all_numbers_have_are_told_once(document):
    page = survey_page(document).partition("<script>")[0]
    assert page.count("layers 12") == 2, "tables 3 and 5"
    assert re.search(r"<span>l=512 total MOPs</span><small>arithmetic; seq 512</small>", page)
    assert len(re.findall(r'class="figure" id="figure-tab3-\d"', page)) == 3


def test_numbers_stand_to_the_right_and_nothing_is_less_than_nothing(document):
    page = survey_page(document)
    assert '<td class="number">7,250,000,000</td><td class="number">7,247,757,312</td>' in page
    assert '<td class="number">-0.03 %</td>' in page
    assert "-0.00 %" not in page


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=str(MISSING))
def test_no_table_has_to_be_moved_sideways(document, tmp_path):
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME % json.dumps(survey_page(document)).replace("</", "<\\/"))
    source, _ = page_source(frame)
    assert 'data-tables="5"' in source
    assert 'data-wide="0"' in source
