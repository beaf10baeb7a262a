"""`celosia survey` as a user calls it, with items that need no RTL."""

import csv
import json
from pathlib import Path

import pytest

from celosia.lab.survey.parts.text import COMMITTED
from celosia.sim.reporting.run_file import read_report
from celosia.sim.support.problems import InputError
from tests.support.command_line import invoke, refused, right
from tests.support.documents import validate

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("survey") / "out"
    result = right("survey", "--quick", "--only", "tab3,area", "--out", out)
    assert "tab3" in result.stdout
    return out


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_document_a_table_and_a_page_are_written(made):
    document = json.loads((made / "survey.json").read_text())
    validate(document)
    assert [item["id"] for item in document["items"]] == ["tab3", "area"]
    assert "--quick" in document["items"][1]["missing"]
    lines = list(csv.DictReader((made / "tab3.csv").read_text().splitlines()))
    line = next(line for line in lines if line["name"] == "l=512 total MOPs")
    assert (line["paper"], line["ours"]) == ("420000000.0", "424710144")
    assert not (made / "runs").exists()


@pytest.mark.parametrize("joined", [False, True])
def test_the_command_line_is_told_without_folders_of_this_machine(tmp_path, monkeypatch, joined):
    out = tmp_path / "made"
    words = ["survey", "--only", "tab3", *([f"--out={out}"] if joined else ["--out", str(out)])]
    monkeypatch.setattr("sys.argv", ["/somewhere/celosia", *words])
    right(*words)
    told = json.loads((out / "survey.json").read_text())["command_line"]
    end = ["--out=made"] if joined else ["--out", "made"]
    assert told == ["celosia", "survey", "--only", "tab3", *end]
    assert str(tmp_path) not in (out / "index.html").read_text()


def test_the_page_is_whole(made):
    page = (made / "index.html").read_text()
    assert "l=512 total MOPs" in page
    assert 'id="figure-tab3-0"' in page
    assert "--quick leaves it out" in page
    assert "http" not in page.partition("<script>")[0]


def test_it_is_compared_with_another(made, tmp_path):
    words = ("survey", "--only", "tab3", "--out", tmp_path / "again", "--against")
    right(*words, made / "survey.json")
    document = json.loads((made / "survey.json").read_text())
    document["items"][0]["values"][0]["ours"] += 1
    (tmp_path / "other.json").write_text(json.dumps(document))
    result = invoke(*words, tmp_path / "other.json")
    assert result.exit_code == 1
    assert "tab3: l=128 MHA projection FLOPs: " in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--only", "fig99"), "--only 'fig99': there is no item 'fig99'; there are tab3"),
        (("--only", ""), "there is no item ''"),
        (("--quick", "--long"), "--quick and --long: only one of them"),
        (("--against", "missing.json"), "missing.json"),
        (("--jobs", "0"), "--jobs"),
        (("--executor", "local:0"), "--executor local:0: write local:N"),
        (("--executor", "local:1", "--jobs", "2"), "--executor and --jobs: only one of them"),
    ],
)
def test_bad_options_write_nothing(words, message):
    refused(message, "survey", "--out", "out", *words)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("kept")
    refused("file: is not a directory", "survey", "--only", "tab3", "--out", "file")
    assert (tmp_path / "file").read_text() == "kept"
    refused("there is no directory", "survey", "--only", "tab3", "--out", "no/such")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a survey's report: its schema is None, not 'celosia.survey/1'"),
        ('{"schema": "celosia.run/1"}', "not a survey's report: its schema is 'celosia.run/1'"),
        ('{"schema": "celosia.survey/1", "items": [1]}', "is a required property"),
        ('{"schema": "celosia.survey/1", "items": 1}', "is a required property"),
    ],
)
def test_what_is_no_survey(tmp_path, text, message):
    (tmp_path / "survey.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_report(str(tmp_path / "survey.json"), "survey")


def test_a_value_of_a_survey_that_is_no_number_is_named(tmp_path):
    document = json.loads((ROOT / COMMITTED).read_text())
    document["items"][0]["values"][1]["ours"] = "many"
    (tmp_path / "survey.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"items\[0\]\.values\[1\]\.ours: 'many' is not of type"):
        read_report(str(tmp_path / "survey.json"), "survey")
