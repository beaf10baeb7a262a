"""The commands of the laboratory, the most used first."""

from typing import Final

from celosia.sim.command.entries import ANY, Command, Panel

__all__ = ["COMMANDS", "DOCUMENTS"]

COMMANDS: Final = (
    Command("optimize", Panel.MODEL, "celosia.lab.substitute.optimize_command:optimize", ANY),
    Command("accuracy", Panel.MODEL, "celosia.lab.accuracy.accuracy_command:accuracy"),
    Command("opt", Panel.MODEL, "celosia.lab.substitute.lowering.opt_command:opt"),
    Command("language", Panel.MODEL, "celosia.lab.training.language_commands:language_app"),
    Command("prune", Panel.MODEL, "celosia.lab.prune.command:prune"),
    Command("nas", Panel.MODEL, "celosia.lab.nas.command:nas"),
    Command("bench", Panel.EXPLORE, "celosia.lab.bench.command:bench"),
    Command("tune", Panel.EXPLORE, "celosia.lab.tune.command:tune", ANY),
    Command("sweep", Panel.EXPLORE, "celosia.lab.sweep.command:sweep"),
    Command("mappings", Panel.EXPLORE, "celosia.lab.mappings.command:mappings", ANY),
    Command("survey", Panel.EXPLORE, "celosia.lab.survey.command:survey"),
    Command("fuzz", Panel.VERIFY, "celosia.lab.fuzz.fuzz_command:fuzz"),
    Command("mutate", Panel.VERIFY, "celosia.lab.mutate.mutate_command:mutate"),
)

DOCUMENTS: Final = {
    "bench": "celosia.lab.bench.suite:Bench",
    "optimize": "celosia.lab.substitute.optimize_command:Optimization",
    "accuracy": "celosia.lab.accuracy.accuracy_command:Accuracies",
    "language speculation": "celosia.lab.training.speculation_command:Speculation",
    "prune": "celosia.lab.prune.report:Pruning",
    "mappings": "celosia.lab.mappings.command:Sample",
    "survey": "celosia.lab.survey.survey:Survey",
    "mutate": "celosia.lab.mutate.sample:MutationSample",
    "tune": "celosia.lab.tune.tuning_log:LogHead",
}
"""The records that these commands write as JSON."""
