"""English texts that ship with the project, one on each line of a file in `data`.

Those for calibration decide the ranges of a quantized model; those for evaluation measure it, and
are no part of the calibration.
"""

from importlib.resources import files

__all__ = ["calibration_texts", "evaluation_texts"]


def calibration_texts() -> list[str]:
    """What a model is quantized with."""
    return _lines("calibration.txt")


def evaluation_texts() -> list[str]:
    """What a quantized model is measured with."""
    return _lines("evaluation.txt")


def _lines(name: str) -> list[str]:
    return (files("celosia.sw.reference") / "data" / name).read_text("utf-8").splitlines()
