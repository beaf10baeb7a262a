"""`celosia nas --run`: a model by its sizes, predicted and on the RTL."""

from pathlib import Path

import pytest

from celosia.lab.nas.models.candidates import sizes
from celosia.lab.nas.models.costs import Cost
from celosia.lab.nas.models.space import TINY
from celosia.lab.nas.pages import model_run
from celosia.lab.nas.pages.model_run import parse_model
from celosia.sim.support.problems import InputError
from tests.support.command_line import refused, right

RUN = ("nas", "--out", "found", "--small", "--run")


def test_sizes_are_read_as_they_are_written():
    model = parse_model("96: 4/192 2/64", TINY)
    assert sizes(model) == "96: 4/192 2/64"
    assert [each.key_heads for each in model.layers] == [2, 1]
    assert {each.head_width for each in model.layers} == {32}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "write WIDTH: HEADS/CHANNELS of each layer, as in '96: 4/192 2/64'"),
        ("96:", "write WIDTH"),
        ("96: 4x192", "write WIDTH"),
        ("0: 4/192", "widths: 0 is not in 1..1024"),
        ("96: 4/9999", "hidden: 9999 is not in 1..4096"),
        ("96: 3/64", "heads: of [3] none is a multiple of the 2 together"),
        ("96: 2/64 3/64", "3 heads are no multiple of the 2 that share keys"),
    ],
)
def test_what_is_no_model_is_refused(text, message):
    with pytest.raises(InputError) as caught:
        parse_model(text, TINY)
    assert message in str(caught.value)


def test_a_wrong_model_is_refused_before_anything_is_made(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    refused("--run '96': write WIDTH", *RUN, "96")


def test_what_runs_is_said_with_the_owners(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        model_run, "costs_of", lambda pieces, *_: dict.fromkeys(pieces, Cost(90, {}))
    )
    line = {"cycles": 100, "owners": {"rows": 75}}
    monkeypatch.setattr(model_run, "run_pieces", lambda pieces, *_: dict.fromkeys(pieces, line))
    monkeypatch.setattr(model_run, "groups", lambda _: ("rows", "command"))
    line["owners"]["command"] = 0
    text = right(*RUN, "96: 4/192").stdout
    assert "96: 4/192; every tensor right" in text
    assert "-10.00%" in text
    assert "75.00%" in text
    assert "command" not in text
    assert Path("found").is_dir()
