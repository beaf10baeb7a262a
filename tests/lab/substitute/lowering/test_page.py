"""docs/rewriting.md: the product that it takes through all levels, and the table of passes."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from celosia.lab.substitute.lowering.passes import PASSES
from celosia.lab.substitute.rules import RULES
from tests.support.command_line import right

PAGE = (Path(__file__).parents[4] / "docs" / "rewriting.md").read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("## From a file to commands") : PAGE.index("## Search")]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_texts_of_the_page_are_those_of_its_commands():
    blocks = re.findall(r"```(mlir)?\n(.*?)```\n", SECTION, re.DOTALL)
    commands = next(text for kind, text in blocks if not kind and "product.mlir" in text)
    for line in commands.splitlines():
        right(*line.split()[1:])
    shown = [text for kind, text in blocks if kind]
    names = ("product", "plan", "program", "commands")
    for name, text in zip(names, shown, strict=True):
        found, at = Path(f"{name}.mlir").read_text(), 0
        for line in text.splitlines():
            pattern = ".*".join(map(re.escape, line.strip().split("...")))
            place = re.compile(pattern).search(found, at)
            assert place is not None, f"{name}.mlir: {line}"
            at = place.end()


def test_the_table_has_all_passes_that_are_no_rules():
    rows = re.findall(r"^\| (`\w+` \|.*)", SECTION, re.MULTILINE)
    passes = {name: each for name, each in PASSES.items() if name not in RULES}
    found = {name.strip(" `"): rest for name, *rest in (row.split("|") for row in rows)}
    assert [*found] == [*passes]
    for name, (arguments, takes, *_) in found.items():
        known = [field.name for field in fields(passes[name])]
        assert arguments.split() == ", ".join(f"`{each}`" for each in known).split()
        assert takes.split(",")[0].strip(" `") in passes[name].takes
