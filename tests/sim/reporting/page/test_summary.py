"""What a page says first of a run that ended, and of one that was stopped."""

import pytest

from celosia.sim.reporting.explain import explain
from celosia.sim.reporting.page.summary import summary_section

ENDED, STOPPED = "What limits this run", "What ran until then"


@pytest.mark.parametrize(
    ("status", "cycles", "heading", "other"),
    [("ok", ">cycles<", ENDED, STOPPED), ("stopped", ">cycles until then<", STOPPED, ENDED)],
)
def test_words_are_those_of_how_it_ended(document, status, cycles, heading, other):
    text = summary_section({**document, "status": status}, explain(document))
    assert f"{heading}</h2>" in text
    assert other not in text
    assert cycles in text
