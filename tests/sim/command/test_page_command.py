"""`celosia page`: what is checked before minutes of work."""

import pytest

from celosia.sim.command import page_command
from celosia.sim.support import extras
from celosia.sim.web.recorded import WrongResultError
from tests.support.command_line import invoke, refused, right


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """A page that is made at once, in a folder that is empty."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(page_command, "check_compiler", lambda: None)
    monkeypatch.setattr(page_command, "build_page", lambda tell, text: f"<p>text: {text}</p>")
    return tmp_path


def test_the_page_is_one_file(quick):
    told = right("page", "--out", "there").output
    assert (quick / "there/index.html").read_text() == "<p>text: True</p>"
    assert [path.name for path in (quick / "there").iterdir()] == ["index.html"]
    assert told == "there/index.html: 0.00 MB; open it in a browser\n"


def test_the_language_model_is_left_out(quick):
    right("page", "--out", "there", "--no-text")
    assert (quick / "there/index.html").read_text() == "<p>text: False</p>"


def test_the_compiler_is_looked_for_first(quick, monkeypatch):
    monkeypatch.undo()
    monkeypatch.chdir(quick)
    monkeypatch.setattr(extras, "find_spec", lambda package: None)
    refused("this needs the package ziglang: pip install -e '.[page]'", "page", "--out", "there")


def test_a_place_that_cannot_be_written_is_refused_first(quick):
    (quick / "file").write_text("mine")
    refused("file: is not a directory", "page", "--out", "file")
    refused("there is no directory", "page", "--out", "no/where")
    (quick / "there/index.html").mkdir(parents=True)
    refused("there/index.html: is a directory", "page", "--out", "there")


def test_a_wrong_result_makes_no_page(quick, monkeypatch):
    def wrong(tell, text):
        raise WrongResultError("softmax: wrong results")

    monkeypatch.setattr(page_command, "build_page", wrong)
    result = invoke("page", "--out", "there")
    assert result.exit_code == 1
    assert "celosia: softmax: wrong results" in result.output
    assert not (quick / "there").exists()
