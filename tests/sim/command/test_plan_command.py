"""`celosia plan` has the options of `celosia run` that a plan depends on."""

import inspect
import re

from celosia.sim.command.plan_command import plan
from celosia.sim.command.run_command import run
from tests.support.command_line import right

WHAT = {"shape", "a", "b", "heads", "seq", "dim", "model", "layers", "text", "keys", "causal"}
"""Options that say what is computed."""


def test_options_of_a_plan_are_options_of_a_run():
    known, both = (set(inspect.signature(command).parameters) for command in (run, plan))
    assert both - {"output"} <= known
    assert both >= WHAT


def test_it_says_how_long_it_took():
    shown = right("plan", "matmul", "--shape", "4x4x4", "--preset", "tiny").stdout
    assert re.search(r"planned and compared with its alternatives in \d+\.\d s", shown)
