# amaranth: UnusedElaboratable=no

"""`Top` and `AxiTop` have the ports that docs/architecture.md lists, and counters behind them."""

import re
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Shape
from amaranth.lib.wiring import Flow

from celosia.hw.host.axi_top import AxiTop
from celosia.hw.host.top import Top
from celosia.isa.encoding import FLUSH
from celosia.isa.presets import PRESETS
from celosia.isa.registers.events import COUNTERS, TABLES
from tests.support.paths import combinational_paths
from tests.support.plain import PLAIN
from tests.support.streams import simulate

DOCUMENT = Path(__file__).parents[3] / "docs" / "architecture.md"


def documented_ports(module: str, bus_bits: int) -> dict[str, tuple[Flow, int]]:
    """The table of ports, spelled out."""
    table = DOCUMENT.read_text().partition(f"## Ports of `{module}`")[2].partition("\n## ")[0]
    ports: dict[str, tuple[Flow, int]] = {}
    read_address = ""
    widths = {"W": bus_bits, "W/8": bus_bits // 8}
    for names, forms in re.findall(r"^\| ([\w, ]+) \| ([^|]+) \|", table, re.MULTILINE):
        if names == "port":
            continue
        listed = [name.strip() for name in names.split(",")]
        prefix = listed[0][:6] if listed[0][1:].startswith("_axi_") else ""
        listed = [name if name.startswith(prefix) else prefix + name for name in listed]
        if names.startswith("m_axi_ar"):
            read_address = forms
        given = read_address if forms == "like AR" else forms
        flow, width = "", ""
        for name, form in zip(listed, _spread(given, len(listed)), strict=True):
            *new_flow, width = form.split()
            flow = new_flow[0] if new_flow else flow
            ports[name] = (Flow[flow.title()], widths.get(width) or int(width))
    return ports


def _spread(forms: str, count: int) -> list[str]:
    """One form for each port; the last one stands for all that follow."""
    given = [form.strip() for form in forms.split(",")]
    return given + [given[-1]] * (count - len(given))


def actual_ports(top) -> dict[str, tuple[Flow, int]]:
    members = top.signature.members.items()
    return {name: (member.flow, Shape.cast(member.shape).width) for name, member in members}


@pytest.mark.parametrize("preset", ["tiny", "base"])
def test_the_ports_of_the_core_are_those_of_the_document(preset):
    config = PRESETS[preset]
    wanted = documented_ports("celosia_core", config.bus_bits)
    del wanted["clk"], wanted["rst"]  # Of the clock domain.
    assert actual_ports(Top(config)) == wanted


@pytest.mark.parametrize("preset", ["tiny", "base"])
def test_the_ports_on_a_bus_are_those_of_the_document(preset):
    config = PRESETS[preset]
    assert actual_ports(AxiTop(config)) == documented_ports("celosia_axi", config.bus_bits)


# `AxiTop` is around a `Top`, and no port is that of a normalization unit.
@pytest.mark.parametrize(
    ("make", "config"),
    [
        (AxiTop, PLAIN),
        pytest.param(AxiTop, PRESETS["tiny"], marks=pytest.mark.nightly),
        pytest.param(Top, PRESETS["tiny"], marks=pytest.mark.nightly),
    ],
    ids=["plain", "AxiTop", "Top"],
)
def test_no_output_depends_on_an_input_of_the_same_cycle(make, config):
    assert combinational_paths(make(config)) == set()


def test_counters_are_read_by_their_number():
    top: Any = Top(PLAIN)
    flushes = 5

    async def value(ctx, name: str) -> int:
        ctx.set(top.counter_number, [counter.name for counter in COUNTERS].index(name))
        await ctx.tick().repeat(2)
        return ctx.get(top.counter_value)

    async def testbench(ctx):
        ctx.set(top.cmd_funct, FLUSH.funct)
        ctx.set(top.cmd_valid, 1)
        await ctx.tick().repeat(flushes)
        ctx.set(top.cmd_valid, 0)
        await ctx.tick().until(~top.busy)
        assert await value(ctx, "commands") == flushes
        assert await value(ctx, "read_beats") == 0
        owners = [await value(ctx, owner.name) for owner in TABLES[0].owners]
        assert sum(owners) == await value(ctx, "cycles") >= flushes

    simulate(top, testbench)
