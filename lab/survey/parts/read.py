"""Reads the document of a survey."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from celosia.isa.foreign_file import MIB, parse_json
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError

__all__ = ["SURVEY_SCHEMA", "read_survey"]

SURVEY_SCHEMA: Final = "celosia.survey/1"

_MOST_BYTES: Final = 16 * MIB


def read_survey(path: Path) -> Mapping[str, Any]:
    """The document in the file `path`.  Raises `InputError` for what is none."""
    try:
        document = parse_json(read_text(path, _MOST_BYTES))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: not JSON: {error}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SURVEY_SCHEMA:
        raise InputError(f"{path}: schema {schema!r} is not {SURVEY_SCHEMA!r}")
    if not _whole(document):
        raise InputError(f"{path}: its items are not those of a survey")
    return document


def _whole(document: Mapping[str, Any]) -> bool:
    """Whether all items have an id and named values."""
    try:
        return all(
            isinstance(item["id"], str) and {"name", "ours", "paper"} <= value.keys()
            for item in document["items"]
            for value in item["values"]
        )
    except (KeyError, TypeError, AttributeError):
        return False
