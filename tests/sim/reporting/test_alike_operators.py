"""Operators of layers that are alike, as one."""

import pytest

from celosia.sim.reporting.alike_operators import members, together
from celosia.sim.reporting.explain import explain

NAMES = ["/norm", *(f"/layer.{n}/{what}" for n in range(3) for what in ("up", "down"))]


def part(document, name, number):
    counters = {"cycles": 100 + number, "array_rows": 60, "wait_load_latency": 40 + number}
    return {
        **document["operators"][0],
        "workload": name,
        "problem": None,
        "macs": 16 * len(name.rpartition("/")[2]),
        "cycles": 100 + number,
        "commands": 5,
        "counters": counters,
        "least_traffic": {"read": 10, "written": number},
    }


@pytest.fixture
def graph(document):
    parts = [part(document, name, number) for number, name in enumerate(NAMES)]
    return {**document, "profile": None, "operators": parts}


def test_layers_are_added_up(graph):
    norm, up, down = together(graph)["operators"]
    assert norm is graph["operators"][0]
    assert (up["workload"], down["workload"]) == ("/layer.0-2/up x3", "/layer.0-2/down x3")
    assert (up["cycles"], up["macs"], up["commands"]) == (101 + 103 + 105, 96, 15)
    assert up["counters"]["wait_load_latency"] == 41 + 43 + 45
    assert up["least_traffic"] == {"read": 30, "written": 1 + 3 + 5}
    assert up["mac_utilization"] == 96 / (graph["config"]["dim"] ** 2 * up["cycles"])
    assert members(up) == {f"/layer.{n}/up" for n in range(3)}
    assert members(norm) == {"/norm"}


@pytest.mark.parametrize(
    "name",
    [
        *("cycles", "macs", "elements_checked", "dram_read_bytes", "dram_write_bytes"),
        *("commands", "predicted_cycles", "elapsed_seconds"),
    ],
)
def test_each_figure_is_the_sum_of_those_that_are_known(graph, name):
    """Alike operators have the same products, so macs alone are equal."""
    figures = [1, *[7, 7] * 3] if name == "macs" else [1, 2, 3, 4, 5, 6, 7]
    for part, figure in zip(graph["operators"], figures, strict=True):
        part[name] = figure
    _, up, down = together(graph)["operators"]
    assert up[name] == sum(figures[1::2])
    assert down[name] == sum(figures[2::2])
    if name in {"predicted_cycles", "elapsed_seconds"}:
        for number in (1, 2, 4, 6):
            graph["operators"][number][name] = None
        _, up, down = together(graph)["operators"]
        assert (up[name], down[name]) == (figures[3] + figures[5], None)


def test_a_shape_is_that_of_all_or_of_none(graph):
    for part in graph["operators"]:
        part["shape"] = "4x4"
    graph["operators"][-1]["shape"] = "4x8"
    _, up, down = together(graph)["operators"]
    assert (up["shape"], down["shape"]) == ("4x4", None)
    graph["operators"][1]["least_traffic"] = None
    _, up, down = together(graph)["operators"]
    assert (up["least_traffic"], down["least_traffic"]["read"]) == (None, 30)


@pytest.mark.parametrize(
    "change",
    [
        {"mismatches": 1},
        {"problem": {"m": 1}},
        {"failure": {"cause": "WATCHDOG"}},
        {"until_stopped": {"cycles": 7}},
    ],
)
def test_what_is_wrong_or_a_product_stays(graph, change):
    graph["operators"] = [{**each, **change} for each in graph["operators"]]
    assert together(graph)["operators"] == graph["operators"]


def test_one_that_was_stopped_stays_beside_those_that_were_not(graph):
    graph["operators"][-1]["until_stopped"] = {"cycles": 7}
    assert together(graph)["operators"][-1] == graph["operators"][-1]


def test_an_explanation_names_them_once(graph):
    text = str(explain(graph))
    assert "129 cycles: /layer.0-2/up x3, wait_load_latency" in text
    assert "/layer.1/" not in text
