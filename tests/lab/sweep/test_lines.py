"""Lines of a sweep in its folder: whole, once, and for one process at a time."""

import json

import pytest

from celosia.lab.sweep.lines import LINES, open_lines
from celosia.sim.support.problems import InputError, OutputError


def test_lines_are_kept_and_known_again(tmp_path):
    with open_lines(tmp_path) as lines:
        assert lines.known == {}
        for key in ("a", "b"):
            lines.add({"key": key, "cycles": 3})
            # Each is there before the next one.
            assert (tmp_path / LINES).read_text().count("\n") == len(lines.known)
    with open_lines(tmp_path) as lines:
        assert list(lines.known) == ["a", "b"]
        lines.add({"key": "a", "cycles": 4})
        assert lines.known["a"]["cycles"] == 4
    with open_lines(tmp_path) as lines:
        assert lines.known["a"]["cycles"] == 4
    assert len((tmp_path / LINES).read_text().splitlines()) == 3


def test_what_was_cut_short_is_removed(tmp_path):
    path = tmp_path / LINES
    whole = json.dumps({"key": "a"}) + "\n"
    path.write_text(whole + '{"key": "b"')
    with open_lines(tmp_path) as lines:
        assert list(lines.known) == ["a"]
        lines.add({"key": "c"})
    assert [json.loads(each)["key"] for each in path.read_text().splitlines()] == ["a", "c"]
    path.write_text('{"key": "b"')
    with open_lines(tmp_path) as lines:
        assert lines.known == {}
    assert path.read_text() == ""


@pytest.mark.parametrize("wrong", ["{}", "[]", "3", "x", '{"key": [1]}'])
def test_what_is_no_line_is_named_by_its_number_and_kept(tmp_path, wrong):
    path = tmp_path / LINES
    text = '{"key": "a"}\n' + wrong + "\n"
    path.write_text(text)
    with (
        pytest.raises(InputError, match=r"points\.jsonl: line 2: not a line of a sweep"),
        open_lines(tmp_path),
    ):
        pass
    assert path.read_text() == text


def test_one_process_at_a_time(tmp_path):
    with (
        open_lines(tmp_path),
        pytest.raises(OutputError, match="another sweep writes there"),
        open_lines(tmp_path),
    ):
        pass
