"""The program of a step, run again to be followed."""

from celosia.sim.run.checks import compare_graph
from celosia.sim.run.measure_graph import measure_graph
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.origin import write_document
from celosia.sim.run.outcome import setting_of
from celosia.sim.run.programs.known_program import KnownProgram
from celosia.sim.run.report import Report
from celosia.sw.decoding.steps import SegmentRun
from celosia.sw.ir.graph_interpret import interpret

__all__ = ["again", "write_again"]


def again(ran: SegmentRun, options: RunOptions) -> Report:
    """The report of a second run of what `ran`, with the inputs and caches that are in memory.

    What is compared is what `options` say.
    """
    compiled, target = ran.run.compiled, options.target
    graph = ran.bucket.graph(ran.places)
    inputs = {name: ran.run.read(name) for name in graph.inputs}
    program = KnownProgram(graph, compiled, target.timing)
    measured = measure_graph(options.workload, ran.run.device, program, inputs)
    if (check := options.watching.check) != "none":
        measured = compare_graph(measured, interpret(graph, inputs), check)
    return Report(
        setting=setting_of(options, target.preset_name, target.config),
        operators=measured.groups,
        whole=measured.whole,
        on_chip=program.on_chip,
        elapsed_seconds=measured.whole.elapsed_seconds,
    )


def write_again(path: str | None, ran: SegmentRun | None, options: RunOptions) -> None:
    """Write that report, if it is asked for and anything ran."""
    if path is not None and ran is not None:
        write_document(path, again(ran, options))
