"""`celosia area` as a user calls it."""

import json
from contextlib import contextmanager

import pytest

from celosia.sim.command.hardware import silicon_command as command
from celosia.sim.command.hardware import silicon_options
from celosia.sim.export import design
from celosia.sim.export.silicon.fpga.implement import Implementation
from celosia.sim.support.errors import EnvironmentProblem
from tests.support.areas import FULL, LEAN
from tests.support.cells import LIBERTY, LIBRARY, fake_yosys
from tests.support.command_line import invoke, refused, right
from tests.support.exports import exported


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Options for a library and a stand-in for Yosys; areas come from a table."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo.lib").write_text(LIBERTY)
    fake = fake_yosys(tmp_path, "")
    monkeypatch.setattr(
        command, "measure_area", lambda config, *_: FULL if config.normalization else LEAN
    )
    return ("area", "--cells", "demo.lib", "--yosys", " ".join(fake.command))


def test_a_measurement(bench):
    words = (*bench, "--preset", "tiny", "--against", "small", "--json")
    document = json.loads(right(*words, "-").stdout)
    assert document["normalization"]["logic"] == document["against"]["growth"]["logic"] == 0.5
    assert document["gate_um2"] == LIBRARY.gate_um2
    assert "lanes: sums" in right(*words, "area.json").stdout


def test_without_the_unit(bench):
    words = (*bench, "--preset", "tiny", "--set", "normalization=false", "--json", "-")
    assert "normalization" not in json.loads(right(*words).stdout)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cells", "tsmc5"), "--cells tsmc5: there is no such cell library"),
        (("--yosys", "/no/yosys"), "--yosys /no/yosys: does not run as Yosys does"),
        (("--preset", "huge"), "huge"),
        (("--against", "huge"), "huge"),
        (("--json", "no/such/folder.json"), "there is no directory"),
    ],
)
def test_bad_input(bench, words, message):
    refused(message, *bench, *words)


def test_cells_that_are_missing_are_named_before_yosys_compiles_itself(monkeypatch):
    def missing(_):
        raise EnvironmentProblem("there are no cells")

    monkeypatch.setattr(command, "choose_library", missing)
    monkeypatch.setattr(command, "started_yosys", lambda *_: pytest.fail("asked too soon"))
    refused("there are no cells", "area")


def test_who_waits_for_yosys_is_told(bench, monkeypatch):
    told, start = [], silicon_options.find_yosys

    @contextmanager
    def bar():
        yield lambda text, _done: told.append(text)

    monkeypatch.setattr(command, "progress_bar", bar)
    monkeypatch.setattr(
        silicon_options, "find_yosys", lambda chosen: [start(chosen), told.append("!")][0]
    )
    right(*bench, "--preset", "tiny")
    assert told[0].startswith("starting Yosys")
    assert told[1] == "!"


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (OSError(28, "full"), 2)])
def test_what_ends_it(bench, monkeypatch, error, code):
    def fail(*_):
        raise error

    monkeypatch.setattr(command, "measure_area", fail)
    assert invoke(*bench, "--json", "area.json").exit_code == code
    assert invoke("doctor").exit_code == 0


def test_no_yosys(bench, monkeypatch):
    def missing(_chosen):
        raise EnvironmentProblem("no Yosys")

    monkeypatch.setattr(silicon_options, "find_yosys", missing)
    refused("no Yosys", *bench)


def test_energy_of_a_run(tmp_path, monkeypatch, document):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps(document))
    told = json.loads(right("energy", "run.json", "--json", "-").stdout)
    assert told["table"].startswith("45 nm")
    assert told["events"]["bus_read_byte"]["count"] == document["counters"]["read_bytes"]
    refused("no.toml: No such file", "energy", "run.json", "--table", "no.toml")
    refused("no.json: No such file", "energy", "no.json")


def test_an_fpga(bench, monkeypatch):
    found = Implementation({"TRELLIS_COMB": (1, 2)}, {1: 50.0}, None)
    given = []
    monkeypatch.setattr(command, "find_nextpnr", lambda: "nextpnr")
    monkeypatch.setattr(command, "implement", lambda *values: given.append(values) or found)
    monkeypatch.setattr(design, "export_design", lambda _, top, memories: exported(top, memories))
    words = ("fpga", "--preset", "tiny", "--seeds", "2", "--yosys", bench[-1], "--json", "-")
    document = json.loads(right(*words).stdout)
    assert document["best_mhz"] == 50.0
    assert document["longest"] is None
    assert document["device"] == "ecp5-85k"
    assert list(given[0][4]) == [1, 2]
    assert given[0][5] == 60
    refused("--device artix: there is no such device", "fpga", "--device", "artix")
