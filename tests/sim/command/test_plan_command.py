"""`celosia plan` has the options of `celosia run` that a plan depends on."""

import inspect

from celosia.sim.command.plan_command import plan
from celosia.sim.command.run_command import run

WHAT = {"shape", "a", "b", "heads", "seq", "dim", "model", "layers", "text", "keys", "causal"}
"""Options that say what is computed."""


def test_options_of_a_plan_are_options_of_a_run():
    known, both = (set(inspect.signature(command).parameters) for command in (run, plan))
    assert both - {"output"} <= known
    assert both >= WHAT
