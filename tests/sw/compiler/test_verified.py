"""What is compiled to be used is verified, whoever asks for it."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.compiler.passes import Schedule
from celosia.sw.compiler.saved_program import SavedProgram
from celosia.sw.compiler.verified import compile_graph, verify_program
from celosia.sw.models.cases import attention_case
from celosia.sw.scheduling.drains import SumsBlock
from tests.support.levels import CONFIGS
from tests.support.norms import normalized_sum

ROOT = Path(__file__).parents[3]
LEAST = CONFIGS["least"]
"""Half its accumulator holds but a part of rows of 90 columns."""


def test_a_program_that_is_not_well_formed_is_a_mistake_of_the_compiler(monkeypatch):
    """Here, moments begin anew with each block of columns."""
    part = SumsBlock.part

    def wrong(self, dim, col, cols):
        return replace(part(self, dim, col, cols), first=col == 0)

    graph = normalized_sum(5, 90).graph
    compile_graph(graph, LEAST)
    monkeypatch.setattr(SumsBlock, "part", wrong)
    with pytest.raises(AssertionError, match=r"sum: lowered to a wrong program: op .*: starts"):
        compile_graph(graph, LEAST)
    assert compile_graph(graph, LEAST, Schedule()).program


def test_operations_in_a_wrong_order_are_refused():
    compiled = compile_graph(attention_case(1, 5, 4, seed=1).graph, PRESETS["tiny"])
    verify_program(compiled)
    with pytest.raises(ValueError, match="op 0: "):
        verify_program(replace(compiled, ops=compiled.ops[::-1]))


def test_memory_that_is_overwritten_too_early_is_refused_in_a_saved_program_too(monkeypatch):
    graph = attention_case(1, 5, 4, seed=1).graph
    saved = SavedProgram.of(compile_graph(graph, LEAST))

    def found(*_):
        raise ValueError("overwrites scores")

    monkeypatch.setattr("celosia.sw.compiler.verified.check_scratch", found)
    with pytest.raises(AssertionError, match="wrong program: overwrites scores"):
        compile_graph(graph, LEAST)
    with pytest.raises(ValueError, match="overwrites scores"):
        compile_graph(graph, LEAST, *saved.passes())


@pytest.mark.parametrize("layer", ["sw", "sim", "lab", "api"])
def test_who_takes_all_passes_but_not_compile_graph_verifies(layer):
    """A module that only predicts applies passes one by one, and runs nothing that they make."""
    for path in (ROOT / layer).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        imported = {
            (node.module, alias.name)
            for node in ast.walk(ast.parse(text if "compiler.pipeline import" in text else ""))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        if ("celosia.sw.compiler.pipeline", "passes") in imported and path.stem != "verified":
            assert ("celosia.sw.compiler.verified", "Verified") in imported, path
