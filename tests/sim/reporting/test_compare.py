"""Two runs beside each other."""

import copy
import re

import pytest

from celosia.sim.profile.resources import ARRAY, RESOURCES
from celosia.sim.reporting.compare import compare, run_names
from celosia.sim.reporting.page.compare_page import compare_page


def slower(document, owner, cycles):
    """The same run, with more cycles of `owner`."""
    other = copy.deepcopy(document)
    other["cycles"] += cycles
    other["operators"][0]["counters"][owner] += cycles
    other["memory"]["latency"] += 1
    return other


def test_a_run_is_as_itself(document):
    found = compare(document, document)
    assert found.percent == 0
    assert found.differences == found.settings == ()
    assert "the same in both" in compare_page([("a", "matmul"), ("b", "matmul")], found)


def test_a_difference_has_an_operator_and_a_cause(document):
    owner = RESOURCES[ARRAY].owners[-1]
    found = compare(document, slower(document, owner.name, 47))
    (difference,) = found.differences
    assert (difference.operator, difference.group, difference.change) == ("matmul", owner.group, 47)
    assert found.percent == 100 * 47 / document["cycles"]
    latency = document["memory"]["latency"]
    assert found.settings == (("memory: latency", latency, latency + 1),)
    page = compare_page([("A.json", "matmul"), ("B.json", "matmul")], found)
    assert "B.json against A.json" in page
    assert f"memory: latency {latency} -&gt; {latency + 1}" in page
    cells = re.findall(r'<td class="number">([^<]*)</td>', page)
    share = f"{found.percent:+.2f} %"
    assert cells.count("+47") == cells.count(share) == 2  # Of the cause, and of all.
    assert owner.group in page


@pytest.mark.parametrize("key", ["workload", "preset", "simulator", "issue", "commit"])
def test_what_a_run_was_told_differently_is_named(document, key):
    before, after = (document | {key: value} for value in ("one", "other"))
    found = compare(before, after)
    assert found.settings == ((key, "one", "other"),)
    assert found.differing == f"What differs: {key} one -> other."
    del after[key]
    assert compare(before, after).settings == ((key, "one", None),)


@pytest.mark.parametrize("table", ["config", "memory", "versions"])
def test_what_stands_in_one_table_only_is_named_with_its_table(document, table):
    before, after = (copy.deepcopy(document) for _ in range(2))
    before[table] |= {"first": 1, "both": 2}
    after[table] |= {"both": 3, "second": 4}
    found = compare(before, after).settings
    names = [f"{table}: {name}" for name in ("first", "both", "second")]
    assert found == ((names[0], 1, None), (names[1], 2, 3), (names[2], None, 4))


def test_changes_are_shares_of_the_first_run(document):
    found = compare(document | {"cycles": 200}, document | {"cycles": 150})
    assert (found.percent, found.share(10)) == (-25.0, 5.0)
    assert found.differing == "No setting differs."


def test_differences_are_in_the_order_of_their_size(document):
    """Cycles more and cycles less are worth the same; equal ones are in the order of names."""
    first, second = (copy.deepcopy(document) for _ in range(2))
    for run in (first, second):
        template = run["operators"][0]
        run["operators"] = [copy.deepcopy(template) | {"workload": name} for name in "gfedcba"]
    owner = RESOURCES[ARRAY].owners[-1].name
    changes = {"a": 5, "b": -90, "c": 30, "d": -7, "e": 200, "f": 0, "g": 90}
    for operator in second["operators"]:
        change = changes[operator["workload"]]
        second["cycles"] += change
        operator["counters"][owner] += change + 1000
    for operator in first["operators"]:
        operator["counters"][owner] += 1000
    found = compare(first, second)
    wanted = [("e", 200), ("b", -90), ("g", 90), ("c", 30), ("d", -7), ("a", 5)]
    assert [(each.operator, each.change) for each in found.differences] == wanted
    assert found.operators == tuple(name for name, _ in wanted)


def test_operators_of_one_run_only_are_named(document):
    other = copy.deepcopy(document)
    other["operators"][0]["workload"] = "another"
    found = compare(document, other)
    assert found.only_first == ("matmul",)
    assert found.only_second == ("another",)
    assert sum(each.change for each in found.differences) == 0


def test_runs_are_told_apart_by_folder_and_by_what_was_run(document):
    def names(*paths):
        return [name for name, _ in run_names(paths, [document, document])]

    assert names("before/RUN.json", "late/RUN.json") == ["before/RUN.json", "late/RUN.json"]
    assert names("/x/a.json", "/x/b.json") == ["a.json", "b.json"]
    assert names("x/r/RUN.json", "y/r/RUN.json") == ["x/r/RUN.json", "y/r/RUN.json"]
    assert names("RUN.json", "late/RUN.json") == ["RUN.json", "late/RUN.json"]
    assert names("RUN.json", "RUN.json") == ["RUN.json", "RUN.json"]
    (_, ran), _ = run_names(["a", "b"], [document, document])
    assert ran == f"matmul {document['shape']} on tiny"
