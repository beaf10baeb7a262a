"""The texts that ship with the project."""

from hashlib import sha256
from pathlib import Path

from celosia.sw.reference.texts import calibration_texts, evaluation_texts

HASHES = Path(__file__).with_name("evaluation_texts.sha256")
"""The evaluation set, a hash for each text: it does not change unseen."""


def normalize(text: str) -> str:
    """The words alone: another case or another dot does not make another text."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


def test_calibration_and_evaluation_are_disjoint():
    calibration = {normalize(text) for text in calibration_texts()}
    evaluation = {normalize(text) for text in evaluation_texts()}
    assert len(evaluation) == len(evaluation_texts()) >= 64
    assert len(calibration) == len(calibration_texts()) >= 100
    assert not calibration & evaluation
    whole = "\n".join(sorted(calibration))
    assert not [text for text in evaluation if text in whole]


def test_the_evaluation_set_is_the_listed_one():
    hashes = [sha256(text.encode()).hexdigest() for text in evaluation_texts()]
    assert hashes == HASHES.read_text().split()


def test_no_text_is_empty_or_padded():
    for text in calibration_texts() + evaluation_texts():
        assert text == text.strip() != ""
