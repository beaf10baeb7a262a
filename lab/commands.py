"""The commands of the laboratory, the most used first."""

from typing import Final

from celosia.lab.accuracy.accuracy_command import accuracy
from celosia.lab.bench.command import bench
from celosia.lab.fuzz.fuzz_command import fuzz
from celosia.lab.mappings.command import mappings
from celosia.lab.mutate.mutate_command import mutate
from celosia.lab.substitute.opt_command import opt
from celosia.lab.substitute.optimize_command import optimize
from celosia.lab.survey.command import survey
from celosia.lab.sweep.command import sweep
from celosia.lab.training.language_commands import language_app
from celosia.lab.tune.command import tune
from celosia.sim.command.entries import ANY, Command, Panel

__all__ = ["COMMANDS"]

COMMANDS: Final = (
    Command("optimize", Panel.MODEL, optimize, ANY),
    Command("accuracy", Panel.MODEL, accuracy),
    Command("opt", Panel.MODEL, opt),
    Command("language", Panel.MODEL, language_app),
    Command("bench", Panel.EXPLORE, bench),
    Command("tune", Panel.EXPLORE, tune, ANY),
    Command("sweep", Panel.EXPLORE, sweep),
    Command("mappings", Panel.EXPLORE, mappings, ANY),
    Command("survey", Panel.EXPLORE, survey),
    Command("fuzz", Panel.VERIFY, fuzz),
    Command("mutate", Panel.VERIFY, mutate),
)
