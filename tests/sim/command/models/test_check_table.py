"""The table of `celosia check` by nodes and times that are made up: sums, shares and captions."""

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType, SimpleNamespace

import pytest
from rich.console import Console

from celosia.sim.command.models.check_table import Placed, show_check
from celosia.sim.run.models.time_share import TimeShare
from celosia.sw.frontend.importer.survey import Survey, SurveyRow
from celosia.sw.quantize.units.placement import PlacedNode, Placement, Where

NODES = (
    ("/a.0/product", "MatMul", 300, Where.ACCELERATOR, "", 0),
    ("/a.0/sum", "Add", 0, Where.HOST, "its operands are inputs", 100),
    ("/a.1/product", "MatMul", 300, Where.ACCELERATOR, "", 0),
    ("/a.1/sum", "Add", 0, Where.HOST, "its operands are inputs", 200),
    ("/last", "MatMul", 400, Where.HOST, "its weights are computed", 50),
    ("/turn", "Transpose", 0, Where.NOBODY, "it moves elements", 0),
)
HOST = {"/a.1/sum (Add)": 200, "/a.0/sum (Add)": 100, "/last (MatMul)": 50}
"""The most first, as `host_times` has them."""


def shown(
    *,
    placed=True,
    time=True,
    refused=(),
    every=False,
    width=160,
    parts: Mapping[str, str] = MappingProxyType({}),
):
    """What is printed, on one line."""
    rows = [SurveyRow(name, op, (op.lower(),), macs) for name, op, macs, *_ in NODES]
    rows += [SurveyRow(name, "Det", (), 0, reason) for name, reason in refused]
    nodes = [PlacedNode(f"{n} ({op})", at, why, macs) for n, op, macs, at, why, _ in NODES]
    nodes = [replace(node, host_part=parts.get(node.name, "")) for node in nodes]
    found = Placed(
        Survey(tuple(rows), nodes=9),
        Placement(tuple(nodes)) if placed else None,
        TimeShare(accelerator=650, host=HOST) if time else None,
    )
    imported = SimpleNamespace(notes=("read so",), lost={"y": "it depends on odd"})
    console = Console(width=width, no_color=True)
    with console.capture() as captured:
        show_check(console, imported, found, every=every)  # type: ignore[arg-type]
    return re.sub(r"[\s│]+", " ", captured.get())


@pytest.mark.parametrize("width", [80, 160])
def test_the_most_on_the_host_is_its_slowest_node(width):
    text = shown(width=width)
    assert "predicted time: 1,000 cycles, 65.00% of them the accelerator's" in text
    assert "the most on the host: 20.00%, /a.1/sum (Add)" in text


def test_captions_count_nodes_and_products():
    text = shown()
    assert "9 nodes in the file, 6 behind folding, 0 not supported; 1,000 multiply-acc" in text
    assert "60.00% of them on the accelerator" in text
    assert "3 nodes on the host: 2 as its operands are inputs; 1 as its weights are" in text
    assert "1 node that others stand for, or that move elements: --all" in text
    assert "note: read so" in text
    assert "output y cannot be computed: it depends on odd" in text


def test_alike_nodes_are_one_line_with_their_sums():
    text = shown()
    assert "/a.0-1/product x2 MatMul 600 60.00%" in text
    assert "/a.0-1/sum x2 Add 30.00%" in text
    assert "/turn" not in text
    every = shown(every=True)
    assert "/a.1/sum Add 20.00%" in every
    assert "/turn" in every
    assert "--all" not in every


def test_nodes_behind_one_that_is_not_supported_are_one_line():
    lost = ["odd", *["it depends on odd (Det): odd"] * 3]
    text = shown(placed=False, time=False, refused=[(f"/r{n}", why) for n, why in enumerate(lost)])
    assert "6 behind folding, 4 not supported" in text
    assert "on the accelerator" not in text
    assert "3 nodes 3 Det" in text
    assert "they depend on odd (Det): odd" in text


@pytest.mark.parametrize("count", [1, 2])
def test_a_node_that_is_lost_alone_keeps_its_name(count):
    lost = ["odd", *["it depends on odd (Det): odd"] * count]
    text = shown(placed=False, time=False, refused=[(f"/r{n}", why) for n, why in enumerate(lost)])
    assert ("2 nodes 2 Det" in text) == ("they depend on odd" in text) == (count == 2)
    assert ("/r1 Det" in text) == (count == 1)


def test_a_node_that_costs_time_is_shown_whatever_becomes_of_it(monkeypatch):
    """A part of another operator that the host computes takes cycles: no line stands for them."""
    part = ("/turn", "Transpose", 0, Where.NOBODY, "it moves elements", 0)
    assert part in NODES
    text = shown()
    assert "Transpose" not in text
    monkeypatch.setitem(HOST, "/turn (Transpose)", 150)
    assert "/turn Transpose 13.04%" in shown()


@pytest.mark.parametrize("count", [1, 2])
def test_what_the_host_computes_of_an_accelerators_node_is_told(count):
    names = [f"/a.{n}/product" for n in range(count)]
    text = shown(parts=dict.fromkeys(names, "mul: it has a factor for each head"))
    assert "accelerator: but on the host its mul: it has a factor for each head" in text
    more = "1 more node" if count == 1 else "2 more nodes"
    assert f"a part of {more}: mul: it has a factor for each head ({count})" in text
    assert "a part of" not in shown()
