"""Plans that are given: schedules, plan files, stages and memory that is used again."""

import json

import pytest

from celosia.sw.planning.forms.text import parse_plan
from tests.support.command_line import refused, right

PRODUCT = ("matmul", "--shape", "24x24x30", "--preset", "tiny")
HEADS = ("attention", "--heads", "2", "--seq", "20", "--dim", "8", "--preset", "tiny")
FUNCTIONAL = ("--sim", "functional")
SCHEDULE = """start = "plain"

[[steps]]
kind = "tensorize"
op = "matmul"
times = 2

[[steps]]
kind = "double_buffer"
op = "matmul"
what = "b"
"""


def test_a_schedule_is_exported_compiled_and_run(tmp_path):
    path, plan = tmp_path / "schedule.toml", tmp_path / "plan.toml"
    path.write_text(SCHEDULE)
    right("compile", *PRODUCT, "--schedule", str(path), "--print-after", "plan", "-o", str(plan))
    assert parse_plan(plan.read_text()).rings["b"].step > 1
    commands = [
        right("compile", *PRODUCT, *given, "--print-after", "commands").stdout
        for given in (("--schedule", str(path)), ("--plan", str(plan)), ())
    ]
    assert commands[0] == commands[1] != commands[2]
    for given in (("--schedule", str(path)), ("--plan", str(plan))):
        right("run", *PRODUCT, *FUNCTIONAL, *given)


def test_a_plan_is_written_with_its_tactics(tmp_path):
    path = tmp_path / "plan.toml"
    right("plan", *HEADS, "--output", str(path))
    plan = parse_plan(path.read_text())
    tactics = {tactic.name: tactic for tactic in plan.tactics}
    assert {"block_tiles", "piece_tiles", "overlap"} <= tactics.keys()
    assert all(each.cycles or each.reason for t in plan.tactics for each in t.rejected)
    assert right("compile", *HEADS, "--plan", str(path)).stdout.endswith("expected\n")
    right("run", *HEADS, *FUNCTIONAL, "--plan", str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("start = 1\nsteps = []", "schedule.start: 1 is none of"),
        ("steps = 3", "schedule.steps: a list is expected"),
        ('[[steps]]\nkind = "unroll"', "schedule.steps[0].kind: 'unroll' is none of"),
        ('[[steps]]\nkind = "split"', "schedule.steps[0].op is missing"),
        ("steps = [", "at end of document"),
        (SCHEDULE.replace("times = 2", "times = 0"), "tensorize-times: step 1, tensorize: matmul"),
        (SCHEDULE.replace('what = "b"', 'what = "c"'), "step-role: step 2, double_buffer: stage m"),
    ],
)
def test_what_is_no_schedule_is_refused(tmp_path, text, message):
    path = tmp_path / "schedule.toml"
    path.write_text(text)
    for command in ("compile", "run"):
        refused(message, command, *PRODUCT, "--schedule", str(path))


def test_plans_for_another_configuration_are_refused(tmp_path):
    path = tmp_path / "plan.toml"
    right("compile", *PRODUCT, "--print-after", "plan", "-o", str(path))
    words = (*PRODUCT[:3], "--preset", "base", "--plan", str(path))
    refused(f"{path}: machine: ", "run", *words)
    refused("not together with --stages dp", "run", *PRODUCT, "--plan", str(path), "--stages", "dp")
    refused("there are best, sequential", "run", *HEADS, "--stages", "all")
    refused("no graph with tensors between", "run", *PRODUCT, "--reuse-memory")


def test_memory_is_used_again(tmp_path):
    path = tmp_path / "run.json"
    words = ("run", "encoder-layer", "--model", "minilm", "--seq", "4", *FUNCTIONAL)
    found = right(*words, "--reuse-memory", "--json", str(path)).stdout
    assert "are overwritten, so not compared" in " ".join(found.split())
    plan = json.loads(path.read_text())["memory_plan"]
    assert plan["live_bytes"] <= plan["peak_bytes"] <= 1.05 * plan["live_bytes"]
    assert plan["peak_bytes"] < plan["apart_bytes"]
    assert plan["overwritten"]
