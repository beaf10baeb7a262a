"""Boards: their pads, and that nextpnr is told about each port of the wrapper."""

import re

import pytest

from celosia.sim.export.silicon.fpga.boards import BOARDS, board_of
from celosia.sim.support.problems import InputError


@pytest.mark.parametrize("name", BOARDS)
def test_every_port_of_the_wrapper_has_a_pad(name):
    board = BOARDS[name]
    [ports] = re.findall(r"module board\((.*?)\);", board.wrapper())
    names = {port.split()[-1] for port in ports.split(",")}
    assert names == set(board.pins)
    for port, pad in board.pins.items():
        assert f'LOCATE COMP "{port}" SITE "{pad}";' in board.constraints()
    assert 'FREQUENCY PORT "clk" 25 MHZ;' in board.constraints()


def test_the_pads_are_those_of_amaranth_boards():
    platform = pytest.importorskip("amaranth_boards.ulx3s").ULX3S_85F_Platform
    resources = {(each.name, each.number): each for each in platform.resources}
    pads = BOARDS["ulx3s-85f"].pins

    def names(resource, part=None):
        ios = resources[resource].ios
        chosen = next(each for each in ios if each.name == part).ios[0] if part else ios[0]
        return chosen.names

    assert names(("clk25", 0)) == [pads["clk"]]
    assert names(("uart", 0), "rx") == [pads["rx"]]
    assert names(("uart", 0), "tx") == [pads["tx"]]
    assert names(("led", 0)) == [pads["led_busy"]]
    assert names(("led", 1)) == [pads["led_error"]]
    assert names(("esp32", 0), "gpio0") == [pads["awake"]]


def test_no_such_board():
    with pytest.raises(InputError, match="did you mean ulx3s-85f"):
        board_of("ulx3s-85")
