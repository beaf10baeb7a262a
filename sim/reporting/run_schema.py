"""Whether a document is a report: by ``docs/report.schema.json``, and a run's by its facts."""

import json
import math
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator, TypeChecker, ValidationError
from jsonschema.exceptions import best_match
from jsonschema.validators import extend

from celosia.isa import foreign_file
from celosia.sim.reporting.run_facts import check_facts

__all__ = ["ReportProblem", "check_report", "parse_json", "report_schema"]

_DIGITS: Final = 18
"""Whole numbers of so many digits fit into 64 bits, and a float holds any of their quotients."""
_SHOWN: Final = 60
"""Characters of a value that a message shows."""
_VAGUE: Final = ("unevaluatedProperties", "additionalProperties")
"""Rules that a document breaks, too, when a property that they name breaks one of its own."""


class ReportProblem(ValueError):
    """A document that is no report; the message names place, value and rule."""


def parse_json(text: str) -> Any:
    """The value of a JSON text.

    Raises `ValueError` for another text, for whole numbers of over 18 digits, and for numbers that
    are not finite.
    """
    return foreign_file.parse_json(
        text, parse_int=_whole, parse_float=_finite, parse_constant=_finite
    )


def check_report(document: Mapping[str, Any], kind: str) -> None:
    """Raise `ReportProblem` unless `document` is of this kind, such as ``run`` or ``survey``."""
    if error := _first(list(_validator(kind).iter_errors(document))):
        raise ReportProblem(f"{error.json_path}: {_message(error)}")
    for place, message in check_facts(document) if kind == "run" else ():
        raise ReportProblem(f"{place}: {message}")


@cache
def report_schema() -> Mapping[str, Any]:
    """The schema of all reports."""
    folder = Path(next(iter(import_module("celosia.docs").__path__)))
    return json.loads((folder / "report.schema.json").read_text("utf-8"))


@cache
def _validator(kind: str) -> Draft202012Validator:
    # JSON Schema takes 1.0 for an integer; what computes with reports does not.
    checker: TypeChecker = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_whole)
    strict = extend(Draft202012Validator, type_checker=checker)
    return strict({"$ref": f"#/$defs/{kind}", "$defs": report_schema()["$defs"]})


def _first(errors: list[ValidationError]) -> ValidationError | None:
    """The error that says the most."""
    exact = [error for error in errors if error.validator not in _VAGUE]
    return best_match(iter(exact or errors))


def _message(error: ValidationError) -> str:
    """What `error` says, with the value cut short."""
    value = repr(error.instance)
    if len(value) <= _SHOWN:
        return error.message
    return error.message.replace(value, f"{value[:_SHOWN]}...")


def _is_whole(_checker: TypeChecker, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _whole(text: str) -> int:
    if len(text.lstrip("-")) > _DIGITS:
        raise ValueError(f"number {text[:_SHOWN]}: has over {_DIGITS} digits")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"number {text[:_SHOWN]}: is not finite")
    return number
