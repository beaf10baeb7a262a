"""Levels of a graph are compared: each of them is seen to differ."""

import numpy as np
import pytest

from celosia.lab.fuzz.graphs import levels
from celosia.lab.fuzz.graphs.levels import LevelsDifferError, check_device, check_levels
from celosia.lab.fuzz.graphs.random_graph import random_case
from celosia.sim.devices.functional import FunctionalDevice
from tests.support.levels import CONFIGS

CASE = random_case(3, ops=2, extent=6)
TINY = CONFIGS["tiny"]


def changed(values):
    """The same tensors, each with another first element."""
    return {
        name: np
        .concatenate([[value.flat[0] ^ 1], value.flat[1:]])
        .astype(value.dtype)
        .reshape(value.shape)
        for name, value in values.items()
    }


def test_levels_that_agree():
    assert check_levels(CASE, TINY).graph.name == CASE.graph.name


def test_a_program_that_differs(monkeypatch):
    values = levels.program_values
    monkeypatch.setattr(levels, "program_values", lambda *given: changed(values(*given)))
    with pytest.raises(LevelsDifferError, match="of the program: 1 of "):
        check_levels(CASE, TINY)


class Wrong(FunctionalDevice):
    """A device that reads one bit wrong."""

    def read(self, address, size):
        data = super().read(address, size)
        return bytes([data[0] ^ 1]) + data[1:]


def test_commands_that_differ(monkeypatch):
    monkeypatch.setattr(levels, "FunctionalDevice", Wrong)
    with pytest.raises(LevelsDifferError, match="of the commands: 1 of "):
        check_levels(CASE, TINY)


def test_a_device_that_differs():
    with pytest.raises(LevelsDifferError, match=": 1 of "):
        check_device(CASE, Wrong(TINY))
