"""The published schema of JSON documents, for those that tests make."""

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).parents[2] / "docs" / "report.schema.json"


@cache
def _validator(name: str) -> Any:
    # Loaded when a document is there: the library takes a quarter of a second.
    jsonschema = import_module("jsonschema")
    records = json.loads(SCHEMA.read_text())["$defs"]
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": records})


def validate(document: Any) -> None:
    """Raise `jsonschema.ValidationError` unless `document` is what its key `schema` says."""
    name = document["schema"].partition(".")[2].partition("/")[0]
    _validator(name).validate(json.loads(json.dumps(document)))
