"""Every command that writes JSON says what, and each key has a meaning."""

import json
import re
from pathlib import Path

import click
import jsonschema
from typer.main import get_command

from celosia.sim import cli
from celosia.sim.command.json_page import json_page, json_schema, written

ROOT = Path(__file__).parents[3]
WITHOUT_OPTION = {"survey", "tune"}
"""Commands that write JSON where another option says: `--out`, `--storage`."""


def commands(command, words=()):
    """The commands of a group, and of groups in it, by their words."""
    if not hasattr(command, "list_commands"):
        yield " ".join(words), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from commands(command.get_command(context, name), (*words, name))


def test_every_command_with_an_option_for_json_says_what_it_writes():
    found = {
        words
        for words, command in commands(get_command(cli.app))
        if any("--json" in option.opts for option in command.params)
    }
    assert "run" in found
    assert "language speculation" in found
    # An option may have a document of its own (`generate --prompts`).
    assert found | WITHOUT_OPTION == {words.partition(" --")[0] for words in written()}


def test_the_schema_is_one_of_json_schema():
    schema = json.loads(json_schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    for document in schema["oneOf"]:
        assert document["$ref"].removeprefix("#/$defs/") in schema["$defs"]


def test_each_key_of_each_record_has_a_type_and_a_meaning():
    for name, record in json.loads(json_schema())["$defs"].items():
        assert record["description"], name
        for key, about in record["properties"].items():
            assert len(about["description"]) > 3, f"{name}.{key}"
            assert about.keys() - {"description"} or (name, key) == ("Value", "settings"), key


def test_the_page_has_a_section_for_each_document_and_record():
    headings = re.findall(r"^## `?([\w./]+)`?$", json_page(), re.MULTILINE)
    assert len(headings) == len(set(headings)) == len(json.loads(json_schema())["$defs"])
    assert "celosia.run/1" in headings
    assert "AcceleratorConfig" in headings
