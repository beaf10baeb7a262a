"""`celosia compile`: forms that read back, and plans that were edited."""

import inspect
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from celosia.isa.numerics import round_scales
from celosia.sim.command import compile_command
from celosia.sim.command.compile_command import compile_workload
from celosia.sim.command.run_command import run
from celosia.sim.run.compiled_forms import ALL, FORMS
from celosia.sw.driver.program_file import parse_program as parse_assembly
from celosia.sw.ir.print_program import print_program
from celosia.sw.ir.read_program import parse_program
from celosia.sw.mlir.read_graph import parse_graph
from celosia.sw.planning.forms.stages import LinearStage
from celosia.sw.planning.forms.text import parse_plan
from tests.support.command_line import invoke, refused, right

PRODUCT = ("compile", "matmul", "--shape", "40x24x70")
ATTENTION = ("compile", "attention", "--heads", "2", "--seq", "32", "--dim", "16")
OWN = {"print_after", "plan", "output", "draw"}


def test_other_options_are_those_of_a_run():
    known, both = (set(inspect.signature(each).parameters) for each in (run, compile_workload))
    assert both - OWN <= known


def test_each_form_is_printed_and_reads_back():
    graph = parse_graph(right(*PRODUCT, "--print-after", "graph").stdout, {})
    plan = parse_plan(right(*PRODUCT, "--print-after", "plan").stdout)
    assert plan.graph == graph.name
    assert [stage.ops for stage in plan.stages] == [(op.name,) for op in graph.ops]
    for form in ("encode", "commands"):
        assert parse_assembly(right(*PRODUCT, "--print-after", form).stdout, "x").commands
    for form in ("expand", "schedule"):
        text = right(*PRODUCT, "--print-after", form).stdout
        assert print_program(parse_program(text)) == text
    every = right(*PRODUCT, "--print-after", ALL).stdout
    places = [every.index(f"{mark} matmul: {form}\n") for form, mark in FORMS.items()]
    assert places == sorted(places)


def test_the_example_of_the_architecture_is_what_is_printed():
    text = (Path(__file__).parents[3] / "docs" / "architecture.md").read_text()
    _, _, section = text.partition("### One product through every pass\n")
    section, _, _ = section.partition("\n### ")
    command = re.findall(r"`celosia (compile [^`]*) --print-after all`", section)[0]
    forms = [form for form in FORMS if form != "encode"]
    printed = [right(*command.split(), "--print-after", form).stdout for form in forms]
    assert re.findall(r"```\w+\n(.*?)```", section, re.DOTALL) == printed
    last = [
        right(*command.split(), "--print-after", form).stdout for form in ("encode", "commands")
    ]
    assert last[0] == last[1]


@pytest.mark.parametrize("preset", ["base", "small"])
def test_an_edited_plan_is_compiled(preset, tmp_path):
    path, edited = tmp_path / "plan.toml", (*PRODUCT, "--preset", preset)
    right(*edited, "--print-after", "plan", "-o", str(path))
    (stage,) = parse_plan(path.read_text()).stages
    assert isinstance(stage, LinearStage)
    text = path.read_text().replace(f"rows = {list(stage.rows)}", "rows = [8, 16, 16]", 1)
    assert text != path.read_text()
    path.write_text(text)
    commands = right(*edited, "--plan", str(path), "--print-after", "commands").stdout
    assert commands != right(*edited, "--print-after", "commands").stdout
    found = right(*edited, "--plan", str(path), "--print-after", "plan").stdout
    (stage,) = parse_plan(found).stages
    assert isinstance(stage, LinearStage)
    assert stage.rows == (8, 16, 16)


def test_the_plan_of_a_graph_is_edited(tmp_path):
    path = tmp_path / "plan.toml"
    right(*ATTENTION, "--print-after", "plan", "-o", str(path))
    text = path.read_text()
    path.write_text(text.replace("rows = [16, 16]", "rows = [20, 12]", 1))
    expanded = right(*ATTENTION, "--plan", str(path), "--print-after", "expand").stdout
    assert "context[20:32, 0:16]" in expanded
    assert "numerators" not in expanded
    path.write_text(text.replace("rows = [16, 16]", "rows = [20, 11]", 1))
    refused("rows: stage scores.head0: parts (20, 11) are not a cut of 32", *ATTENTION,
            "--plan", path)  # fmt: skip


def test_an_illegal_plan_is_refused_with_its_rule(tmp_path):
    path = tmp_path / "plan.toml"
    right(*PRODUCT, "--print-after", "plan", "-o", str(path))
    text = path.read_text()
    path.write_text(re.sub(r"(?m)^rows = .*$", "rows = [8, 16, 17]", text, count=1))
    refused("rows: stage matmul: parts (8, 16, 17) are not a cut of 40", *PRODUCT, "--plan", path)
    refused("machine: ", *PRODUCT, "--plan", path, "--preset", "small")
    path.write_text(text[:-20])
    refused(f"{path}: ", *PRODUCT, "--plan", path)
    refused("nowhere.toml", *PRODUCT, "--plan", tmp_path / "nowhere.toml")


def test_what_cannot_be_compiled_is_refused():
    refused("there is no workload 'x'", "compile", "x")
    refused("--print-after tile: there are graph, plan", *PRODUCT, "--print-after", "tile")
    refused("deferred_softmax to uint8 needs a normalization unit", *ATTENTION, "--preset", "small")
    assert invoke("compile").exit_code == 2


def test_without_a_form_the_expected_cycles_are_printed():
    assert re.search(r"matmul: \d+ commands, [\d,]+ cycles expected", right(*PRODUCT).stdout)


def test_short_scales_are_printed_and_told():
    short = (*PRODUCT, "--set", "scale_bits=8")
    assert "scales: 1 of 1 are rounded to 8 bits, by 0." in right(*short).stdout
    forms = [right(*each, "--print-after", "graph").stdout for each in (PRODUCT, short)]
    scales = [float(re.findall(r"scale = ([\d.e-]+)", form)[0]) for form in forms]
    assert scales[1] == round_scales(scales[0], 8) != scales[0]


def test_graphs_plans_and_memories_are_drawn(tmp_path):
    drawing = tmp_path / "a.svg"
    plain = right(*ATTENTION).stdout
    assert right(*ATTENTION, "--draw", str(drawing)).stdout == plain
    texts = [each.text or "" for each in ElementTree.parse(drawing).iter()]
    for shown in ("scores.head1", "scratchpad: 16,384 rows", "1. attention: scores.head0"):
        assert any(text.startswith(shown) for text in texts)
    both = right(*PRODUCT, "--print-after", "plan", "--draw", str(drawing)).stdout
    assert parse_plan(both).graph == "matmul"
    for title in ("plan of matmul", "main memory of matmul"):
        assert title in drawing.read_text()


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("a.png", "a drawing is a file whose name ends in .svg"),
        ("none/a.svg", "there is no directory"),
        ("out.svg", "--output writes there, too"),
    ],
)
def test_a_drawing_that_cannot_be_written_is_refused_before_work(tmp_path, monkeypatch, place, why):
    monkeypatch.setattr(compile_command, "_content", None)
    words = ("--draw", str(tmp_path / place), "--output", str(tmp_path / "out.svg"))
    refused(why, *PRODUCT, *words)
    assert not list(tmp_path.iterdir())
