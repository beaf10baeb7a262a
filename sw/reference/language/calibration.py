"""The texts by which the ranges of a language model's integers are chosen, in a file beside it.

They are windows of the text that it was trained on, which another version of Python does not have.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from celosia.isa.foreign_file import ForeignFileError, parse_json, read_text
from celosia.sw.reference.language.errors import LanguageError
from celosia.sw.reference.language.model_file import shipped_folder

__all__ = ["CALIBRATION", "CalibrationError", "load_calibration", "save_calibration"]

CALIBRATION: Final = "calibration.json"
_MOST_BYTES: Final = 64 << 20
"""The largest file of windows that is opened."""


class CalibrationError(LanguageError):
    """A file that does not hold windows of tokens."""


def save_calibration(folder: Path, windows: Sequence[Sequence[int]]) -> None:
    """Write the tokens of each window to the model's folder, a line for each."""
    lines = ",\n".join(json.dumps(list(window)) for window in windows)
    (folder / CALIBRATION).write_text(f"[\n{lines}\n]\n", "utf-8")


def load_calibration(folder: Path | None, vocabulary: int, context: int) -> list[list[int]]:
    """The tokens of each window, of the model in `folder` or of that of the project.

    Raises `CalibrationError` for a file that is missing, no list of lists of tokens, or whose
    tokens a model of this vocabulary and context cannot take.
    """
    path = (folder or shipped_folder()) / CALIBRATION
    try:
        windows = parse_json(read_text(path, _MOST_BYTES))
    except ForeignFileError as error:
        raise CalibrationError(str(error)) from None
    except ValueError as error:
        raise CalibrationError(f"{path}: not a JSON file: {error}") from None
    if not isinstance(windows, list) or not windows:
        raise CalibrationError(f"{path}: is not a list of windows")
    for number, window in enumerate(windows):
        if not isinstance(window, list) or not 0 < len(window) <= context:
            raise CalibrationError(f"{path}: window {number} is not a list of 1..{context} tokens")
        for token in window:
            if type(token) is not int or not 0 <= token < vocabulary:
                raise CalibrationError(
                    f"{path}: window {number}: {token!r} is not a token in 0..{vocabulary - 1}"
                )
    return windows
