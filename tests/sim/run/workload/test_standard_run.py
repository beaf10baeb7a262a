"""The program that a profile is recorded of: it runs on every configuration."""

from pathlib import Path

import pytest

from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.run.workload import standard_run
from celosia.sw.driver.device import RunResult


@pytest.mark.parametrize(("preset", "transforms"), [("tiny", True), ("small", False)])
def test_the_program_runs_with_lanes_and_without(preset, transforms, monkeypatch):
    ran, config = [], PRESETS[preset]

    class Device(FunctionalDevice):
        def __init__(self, config, timing, memory_bytes, library):
            super().__init__(config, memory_bytes=memory_bytes)
            ran.append(library)

        def run(self, *given, **named) -> RunResult:
            result = super().run(*given, **named)
            ran.append(bool(config.normalization))
            return result

    monkeypatch.setattr(standard_run, "VerilatorDevice", Device)
    monkeypatch.setattr(standard_run, "_TILES", 4)  # Else it takes seconds.
    assert standard_run.standard_run(config, Path("x.so")) == 0  # It has no clock.
    assert ran == [Path("x.so"), transforms]
