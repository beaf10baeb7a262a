"""What --wave, --wave-window and --wave-scope mean, and what is refused before anything runs."""

import pytest

from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError, OutputError
from celosia.sim.wave.request import WaveRequest, check_scope, parse_request

SCOPES = ("top", "top.core", "top.core.load", "top.core.store", "top.wave")


def parse(path, window=None, scope=None, simulator="amaranth"):
    return parse_request(path, window, scope, simulator)


def test_nothing_is_asked_for():
    assert parse(None) is None


@pytest.mark.parametrize(
    ("window", "start", "stop"),
    [(None, 0, 1 << 60), ("3:9", 3, 9), (":9", 0, 9), ("3:", 3, 1 << 60), (":", 0, 1 << 60)],
)
def test_windows(tmp_path, window, start, stop):
    path = tmp_path / "x.vcd"
    scope = "celosia_axi.b"
    found = parse(path, window, scope)
    assert found == WaveRequest(path=path, start=start, stop=stop, scope=scope)


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ("5", r"5: write START:STOP, cycles; either may be left out"),
        ("a:b", "write START:STOP"),
        ("-1:4", "write START:STOP"),
        ("1:2:3", "write START:STOP"),
        ("", "write START:STOP"),
        ("9:9", "9:9: START must be below STOP"),
        ("9:3", "START must be below STOP"),
        (f"0:{(1 << 60) + 1}", "must not be above"),
    ],
)
def test_a_window_that_is_none(tmp_path, window, message):
    with pytest.raises(InputError, match=f"--wave-window {message}|{message}"):
        parse(tmp_path / "x.vcd", window)


@pytest.mark.parametrize(("window", "scope"), [("1:2", None), (None, "top")])
def test_options_of_a_waveform_without_one(window, scope):
    with pytest.raises(InputError, match="there is no waveform without --wave FILE"):
        parse(None, window, scope)


@pytest.mark.parametrize("simulator", ["amaranth", "verilator"])
@pytest.mark.parametrize("name", ["x.txt", "x", ".vcd", "x.VCD"])
def test_other_kinds_of_files(tmp_path, simulator, name):
    with pytest.raises(InputError, match=r"waveforms are \.vcd or \.fst files"):
        parse(tmp_path / name, simulator=simulator)


def test_the_functional_model_has_no_signals(tmp_path):
    with pytest.raises(InputError, match="functional has no signals; use --sim amaranth or"):
        parse(tmp_path / "x.vcd", simulator="functional")


def test_a_scope_outside_of_the_top_is_refused_before_anything_is_built(tmp_path):
    for scope in ("nonsense", "", "nonsense.celosia_axi"):
        with pytest.raises(InputError, match=r"no such scope; there are celosia_axi$"):
            parse(tmp_path / "x.vcd", scope=scope)
    for scope in ("celosia_axi", "celosia_axi.core"):
        request = WaveRequest(path=tmp_path / "x.vcd", start=0, stop=1 << 60, scope=scope)
        assert parse(tmp_path / "x.vcd", scope=scope) == request


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(OutputError, match="there is no directory"):
        parse(tmp_path / "missing" / "x.vcd")
    (tmp_path / "x.vcd").mkdir()
    with pytest.raises(InputError, match="is not a file"):
        parse(tmp_path / "x.vcd")
    (tmp_path / "y.gtkw").mkdir()
    with pytest.raises(OutputError, match=r"y\.gtkw: is a directory"):
        parse(tmp_path / "y.vcd")


@pytest.mark.parametrize(
    ("simulator", "package"), [("amaranth", "gtkwave"), ("verilator", "liblz4-dev")]
)
def test_a_missing_tool_is_named(tmp_path, monkeypatch, simulator, package):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CELOSIA_REQUIRE", raising=False)
    with pytest.raises(EnvironmentProblem, match=rf"{package}.* has it; or name a \.vcd file"):
        parse(tmp_path / "x.fst", simulator=simulator)
    assert parse(tmp_path / "x.vcd", simulator=simulator)


def test_scopes_that_exist():
    check_scope(None, SCOPES)
    for scope in SCOPES:
        check_scope(scope, SCOPES)


@pytest.mark.parametrize(
    ("scope", "message"),
    [
        ("top.core.lod", "no such scope; in top.core there are top.core.load, top.core.store"),
        ("top.cor.load", "in top there are top.core, top.wave"),
        ("core", "no such scope; there are top$"),
        ("", "no such scope; there are top$"),
        ("top.core.load.deep", "top.core.load.deep: in top.core.load there are no scopes"),
    ],
)
def test_a_scope_that_does_not_exist_is_told_what_does(scope, message):
    with pytest.raises(InputError, match=message):
        check_scope(scope, SCOPES)
