"""What a page says first of a run that ended, and of one that was stopped."""

import re

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


def rows(text: str) -> list[list[str]]:
    """The cells of the rows of tables; a name is there twice, for wide and narrow pages."""
    found = re.findall("<tr>(.*?)</tr>", text, re.DOTALL)
    cells = [re.findall("<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in found]
    plain = [[re.sub("<[^>]*>", "", cell) for cell in row] for row in cells]
    return [row for row in plain if row]


def test_where_the_cycles_went(document):
    """Of the array: all that rows did not enter in is lost, and one owner has the most of it."""
    first = document["operators"][0]
    parts = [
        {
            **first,
            "workload": name,
            "cycles": cycles,
            "counters": {"cycles": cycles, "array_rows": rows_in, **waits},
        }
        for name, cycles, rows_in, waits in (
            ("one", 3000, 1000, {"drain": 1500, "wait_token": 500}),
            ("two", 1000, 1000, {}),
        )
    ]
    whole = {"cycles": 4000, "array_rows": 2000, "drain": 1500, "wait_token": 500}
    changed = {**document, "operators": parts, "cycles": 4000, "counters": whole}
    found = rows(summary_section(changed, explain(changed)))
    assert ["oneone", "3,000", "75.0%", "2,000", "drain (1,500)"] in found
    assert ["twotwo", "1,000", "25.0%", "0", "-"] in found
    assert ["allall", "4,000", "100.0%", "2,000", "drain (1,500)"] in found
    alone = {**changed, "operators": parts[:1]}
    assert not [row for row in rows(summary_section(alone, explain(alone))) if row[0] == "allall"]


def test_tiles_have_what_no_program_can_be_faster_than(document):
    limit = {"cycles": 1234, "bound": "reads", "mac_utilization": 0.5}
    changed = {**document, "limit": limit, "memory_limit_share": 0.98765}
    tiles = re.findall(r'<b class="[^"]*">(.*?)</b><span>(.*?)</span>', summary_section(
        {**changed, "mac_utilization": None, "commands": 4321, "check": "outputs"},
        explain(changed),
    ))  # fmt: skip
    shown = {text: number for number, text in tiles}
    assert shown["cycles at least (reads)"] == "1,234"
    assert shown["of the memory&#x27;s limit"] == "98.77%"
    assert shown["MAC utilization"] == "-"
    assert shown["commands"] == "4,321"
    assert shown["bytes read"] == f"{document['dram_read_bytes']:,}"
    assert shown["bytes written"] == f"{document['dram_write_bytes']:,}"
    assert "outputs, the only ones compared" in shown
