"""The model behind a waveform, which need not be built to know which it is."""

from pathlib import Path

import pytest

from celosia.sim.verilator.build_options import Wave
from celosia.sim.wave import verilated
from celosia.sim.wave.request import WaveRequest
from tests.support.waves import SETUP


class Asked(Exception):
    """A model is asked for."""


@pytest.mark.parametrize(("name", "wave"), [("out.vcd", Wave.VCD), ("a.b.fst", Wave.FST)])
def test_it_writes_what_the_file_is_called_after(name, wave, monkeypatch):
    def ask(*asked):
        raise Asked(*asked)

    monkeypatch.setattr(verilated, "wave_model", ask)
    with pytest.raises(Asked) as found:
        verilated.VerilatorWaveDevice(WaveRequest(path=Path(name)), SETUP)
    assert found.value.args == (SETUP.config, wave, SETUP.progress)
