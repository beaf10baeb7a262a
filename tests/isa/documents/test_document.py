"""The generated documents are current and complete."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from celosia.isa.documents.document import generate
from celosia.isa.encoding import INSTRUCTIONS, Function
from celosia.isa.functions.table import FUNCTIONS
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.events import COUNTERS
from celosia.isa.registers.map import REGISTERS
from celosia.sim.command.document import documents, write_documents

ROOT = Path(__file__).parents[3]


def test_the_documents_are_current():
    assert write_documents(ROOT, check=True) == [], "run `celosia docs`"


def test_stale_documents_are_listed_and_written(tmp_path):
    names = list(documents())
    assert write_documents(tmp_path, check=True) == names
    assert not list(tmp_path.iterdir())
    assert write_documents(tmp_path) == names
    assert write_documents(tmp_path) == []

    (tmp_path / names[1]).write_text("old")
    assert write_documents(tmp_path, check=True) == [names[1]]
    assert (tmp_path / names[1]).read_text() == "old"


@pytest.mark.parametrize("instruction", INSTRUCTIONS.values(), ids=INSTRUCTIONS)
def test_every_field_of_an_instruction_is_on_the_page(instruction):
    section = generate()["docs/isa.md"].split(f"### {instruction.name}\n")[1].split("\n##")[0]
    for field in instruction.fields:
        assert re.search(rf"^\| {field.register}\[[\d:]+\] \| {field.name} \|", section, re.M)


@pytest.mark.parametrize("function", Function)
def test_every_function_of_transform_is_on_the_page(function):
    row = f"| {int(function)} | {function.name.lower()} | "
    assert row in generate()["docs/isa.md"]
    assert FUNCTIONS[function].doc in generate()["docs/isa.md"]


def test_every_cause_and_counter_is_on_its_page():
    documents = generate()
    for cause in Cause:
        assert f"| {cause.name} |" in documents["docs/isa.md"]
    for counter in COUNTERS:
        assert f"| {counter.name} |" in documents["docs/counters.md"]


def test_tables_are_whole():
    """A vertical bar inside a cell would make one line longer than the rest of its table."""
    for name, text in generate().items():
        if name.endswith(".md"):
            for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
                assert len({line.count("|") for line in block.splitlines()}) == 1, block


def test_every_register_is_in_both_documents():
    documents = generate()
    for register in REGISTERS.values():
        assert f"| {register.offset:#05x} | {register.name} |" in documents["docs/registers.md"]
        pattern = rf"^#define CELOSIA_{register.name} +0x{register.offset:03X}u$"
        assert re.search(pattern, documents["docs/celosia_registers.h"], re.M)


def test_the_header_is_c(tmp_path):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler: install the package gcc")
    header = ROOT / "docs" / "celosia_registers.h"
    source = tmp_path / "main.c"
    source.write_text(
        f'#include "{header}"\n#include "{header}"\n'
        "int main(void) { return CELOSIA_ERROR_CAUSE_MASK == 0xFu ? 0 : 1; }\n"
    )
    program = tmp_path / "main"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run([compiler, *flags, "-o", str(program), str(source)], check=True)
    subprocess.run([str(program)], check=True)
