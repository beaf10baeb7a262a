"""The windows by which ranges are chosen."""

import json

import pytest

from celosia.sw.reference.language.calibration import (
    CALIBRATION,
    CalibrationError,
    load_calibration,
    save_calibration,
)
from celosia.sw.reference.language.shape import SMALL


def test_the_projects_model_has_them():
    windows = load_calibration(None, SMALL.vocabulary, SMALL.context)
    assert [len(window) for window in windows] == [SMALL.context] * 16


def test_what_is_written_is_read(tmp_path):
    save_calibration(tmp_path, [[1, 2], [3]])
    assert load_calibration(tmp_path, 4, 2) == [[1, 2], [3]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        ("x", "not a JSON file"),
        ("[" * 100_000, "not a JSON file"),
        (json.dumps({}), "is not a list of windows"),
        (json.dumps([]), "is not a list of windows"),
        (json.dumps([[]]), r"window 0 is not a list of 1..3 tokens"),
        (json.dumps([[0], [1] * 4]), r"window 1 is not a list of 1..3 tokens"),
        (json.dumps([[0, 8]]), r"window 0: 8 is not a token in 0..7"),
        (json.dumps([[-1]]), r"window 0: -1 is not a token"),
        (json.dumps([[True]]), "window 0: True is not a token"),
        (json.dumps([["a"]]), "window 0: 'a' is not a token"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    if content is not None:
        (tmp_path / CALIBRATION).write_text(content)
    with pytest.raises(CalibrationError, match=message):
        load_calibration(tmp_path, 8, 3)
