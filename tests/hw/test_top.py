# amaranth: UnusedElaboratable=no

"""`Top`: the ports that docs/architecture.md lists, with their directions and widths."""

import re
from pathlib import Path

import pytest
from amaranth.hdl import Shape
from amaranth.lib.wiring import Flow

from celosia.hw.top import Top
from celosia.isa.events import COUNTERS
from celosia.isa.presets import PRESETS
from tests.support.paths import combinational_paths

DOCUMENT = Path(__file__).parents[2] / "docs" / "architecture.md"


def documented_ports(bus_bits: int) -> dict[str, tuple[Flow, int]]:
    """The table of ports, spelled out."""
    table = DOCUMENT.read_text().partition("## Top-level ports")[2]
    ports: dict[str, tuple[Flow, int]] = {}
    widths = {"W": bus_bits, "W/8": bus_bits // 8}
    for names, forms in re.findall(r"^\| ([\w, ]+) \| ([^|]+) \|", table, re.MULTILINE):
        if names in ("port", "clk, rst"):
            continue
        listed = [name.strip() for name in names.split(",")]
        prefix = "m_axi_" if listed[0].startswith("m_axi_") else ""
        listed = [name if name.startswith(prefix) else prefix + name for name in listed]
        given = "out 1, in 1, out 64, 8, 3, 2, 4" if forms == "like AR" else forms
        flow, width = "", ""
        for name, form in zip(listed, _spread(given, len(listed)), strict=True):
            *new_flow, width = form.split()
            flow = new_flow[0] if new_flow else flow
            ports[name] = (Flow[flow.title()], widths.get(width) or int(width))
    flow, width = ports.pop("counter_NAME")
    return ports | {f"counter_{counter.name}": (flow, width) for counter in COUNTERS}


def _spread(forms: str, count: int) -> list[str]:
    """One form for each port; the last one stands for all that follow."""
    given = [form.strip() for form in forms.split(",")]
    return given + [given[-1]] * (count - len(given))


@pytest.mark.parametrize("preset", ["tiny", "base"])
def test_the_ports_are_those_of_the_document(preset):
    config = PRESETS[preset]
    members = Top(config).signature.members
    actual = {name: (m.flow, Shape.cast(m.shape).width) for name, m in members.items()}
    assert actual == documented_ports(config.bus_bits)


def test_no_output_depends_on_an_input_of_the_same_cycle():
    assert combinational_paths(Top(PRESETS["tiny"])) == set()
