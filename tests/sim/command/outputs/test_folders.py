"""What a run's report needs is asked for before the run."""

from pathlib import Path

import pytest

from celosia.sim.command.outputs import folders as outputs
from celosia.sim.support import extras
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
