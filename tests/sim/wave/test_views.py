"""Saved views: what is in them, and that it exists."""

import pytest

from celosia.sim.verilator.probe import LINES
from celosia.sim.wave.request import WaveRequest
from celosia.sim.wave.views import select_items, sucl_text, write_views

HIERARCHY = {
    "chip": {"clk": 1, "m_axi_arvalid": 1, "m_axi_araddr": 64, "busy": 1, "_text": 9},
    "chip.wave": {name: 8 * size for name, size in LINES.items()} | {"load_queued": 8},
    "chip.load": {"state": 3, "op": 261, "op.tag": 32, "op[0]": 1, "name": 0},
}


def shown(groups) -> dict[str, list[str]]:
    return {group.name: [item.name for item in group.items] for group in groups}


def test_everything():
    assert shown(select_items(HIERARCHY, "chip", None)) == {
        "program": ["command"],
        "load": ["load", "load_next", "load_queued"],
        "execute": ["execute", "execute_next", "array"],
        "store": ["store", "store_next"],
        "transform": ["transform", "transform_next"],
        "memory reads": ["m_axi_arvalid", "m_axi_araddr"],
        "status": ["clk", "busy"],
    }


def test_a_scope_is_in_the_place_of_the_ports():
    groups = shown(select_items(HIERARCHY, "chip", "chip.load"))
    assert groups["chip.load"] == ["state", "name"]
    assert "status" not in groups
    assert shown(select_items(HIERARCHY, "chip", "chip.wave")).keys() == {
        "program",
        "load",
        "execute",
        "store",
        "transform",
    }


@pytest.mark.parametrize("scope", [None, "chip.load"])
def test_files(tmp_path, scope):
    request = WaveRequest(path=tmp_path / "x.vcd", scope=scope)
    write_views(request, HIERARCHY, "chip", range(5, 205))
    gtkw = (tmp_path / "x.gtkw").read_text().splitlines()
    assert f'[dumpfile] "{tmp_path / "x.vcd"}"' in gtkw
    assert "[timestart] 50" in gtkw
    assert f"+{{command}} chip.wave.command[{8 * LINES['command'] - 1}:0]" in gtkw
    sucl = (tmp_path / "x.sucl").read_text().splitlines()
    assert sucl[:2] == ["divider_add program", "variable_add chip.wave.command"]
    assert sucl[-2:] == ["item_unfocus", "zoom_fit"]


def test_formats_name_rows_as_surfer_does():
    commands = sucl_text(select_items(HIERARCHY, "chip", None)).splitlines()
    adds = [c.partition(" ")[2] for c in commands if "_add " in c]
    row = adds.index("chip.wave.load_queued")
    assert (row, commands[commands.index("item_set_format Unsigned") - 1]) == (5, "item_focus f")
    row = adds.index("chip.wave.store_next")
    letters = "abcdefghijklmnop"
    name = letters[row] if row < 16 else letters[row // 16] + letters[row % 16]
    assert commands[commands.index(f"item_focus {name}") + 1] == "item_set_format ASCII"


def test_text_is_text_only_where_it_is_made():
    """A unit's own signal may have the name of a line, and is a number."""
    hierarchy = HIERARCHY | {"chip.load": {"load": 8, "command": 8, "other_queued": 2}}
    groups = select_items(hierarchy, "chip", "chip.load")
    formats = {item.path: item.format for group in groups for item in group.items}
    assert formats["chip.wave.load"] == formats["chip.wave.command"] == "ascii"
    own = {name: formats[f"chip.load.{name}"] for name in hierarchy["chip.load"]}
    assert own == {"load": "hex", "command": "hex", "other_queued": "dec"}


def test_a_users_own_view_stays(tmp_path):
    request = WaveRequest(path=tmp_path / "x.vcd")
    write_views(request, HIERARCHY, "chip", range(10))
    write_views(request, HIERARCHY, "chip", range(20, 30))
    assert "[timestart] 200" in (tmp_path / "x.gtkw").read_text()
    (tmp_path / "x.gtkw").write_text("[timestart] 7\n")
    write_views(request, HIERARCHY, "chip", range(10))
    assert (tmp_path / "x.gtkw").read_text() == "[timestart] 7\n"
