"""What a run's report needs is asked for before the run."""

import gzip
import json
from pathlib import Path

import pytest

from celosia.sim.command.outputs import folders as outputs
from celosia.sim.reporting.page import page
from celosia.sim.support import extras
from celosia.sim.support.problems import OutputError
from tests.support.command_line import SMALL, refused, right

SPACE = '[[workload]]\nrun = "matmul --shape 8x8x8"\n'


@pytest.mark.parametrize(
    "words",
    [
        ("run", "matmul", "--shape", "8x8x8", "--preset", "tiny", "--report", "out"),
        ("run", "model.onnx", "--report", "out"),
        ("survey", "--quick", "--out", "out"),
        ("sweep", "space.toml", "--out", "out"),
    ],
)
def test_without_what_draws_pages_nothing_runs(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("space.toml").write_text(SPACE)
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    refused("this needs the package plotly: pip install -e '.[report]'", *words)


def test_who_asks_for_no_page_needs_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    outputs.check_folder(None)
    right(*SMALL)


@pytest.mark.parametrize(
    ("there", "folder", "message"),
    [
        ("out/index.html/", "out", "out/index.html: is a directory, not a file to write"),
        ("out/RUN.json/", "out", "out/RUN.json: is a directory, not a file to write"),
        ("out", "out", "out: is not a directory"),
        ("", "no/out", "there is no directory .*no"),
        ("out/other.html", "out", None),
        ("", "out", None),
    ],
)
def test_a_page_that_cannot_be_written_is_refused_at_once(tmp_path, there, folder, message):
    place = tmp_path / there.strip("/")
    if there.endswith("/"):
        place.mkdir(parents=True)
    elif there:
        place.parent.mkdir(exist_ok=True)
        place.touch()
    before = sorted(tmp_path.rglob("*"))
    if message is None:
        outputs.check_place(tmp_path / folder, outputs.RUN)
    else:
        with pytest.raises(OutputError, match=message):
            outputs.check_place(tmp_path / folder, outputs.RUN)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("RUN.json", (*SMALL, "--report", "out")),
        ("index.html", (*SMALL, "--report", "out")),
        ("survey.json", ("survey", "--quick", "--out", "out")),
        ("index.html", ("sweep", "space.toml", "--out", "out")),
    ],
)
def test_nothing_runs_whose_page_or_data_cannot_be_written(name, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("space.toml").write_text(SPACE)
    Path("out", name).mkdir(parents=True)
    refused(f"out/{name}: is a directory, not a file to write", *words)
    assert [each.name for each in Path("out").iterdir()] == [name]


RUN = json.loads((Path(__file__).parents[2] / "reporting/frozen/product.json").read_text())


def test_a_folder_has_the_page_and_the_run_and_a_trace_is_packed_if_its_name_says_so(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(page, "page", lambda run: f"a page of {run['workload']}")
    plain, packed = tmp_path / "a.pftrace", tmp_path / "a.pftrace.gz"
    outputs.write_reports(RUN, tmp_path / "out", plain)
    outputs.write_reports(RUN, None, packed)
    assert {each.name for each in (tmp_path / "out").iterdir()} == {"index.html", "RUN.json"}
    assert (tmp_path / "out/index.html").read_text() == "a page of matmul"
    assert json.loads((tmp_path / "out/RUN.json").read_text()) == RUN
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes() != b""


def test_a_run_that_nobody_has_followed_has_no_trace(tmp_path):
    outputs.write_reports({**RUN, "profile": None}, None, tmp_path / "a.pftrace")
    assert not list(tmp_path.iterdir())
