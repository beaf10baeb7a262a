"""TensorRT: calibration by each criterion, and tactics with their alternatives on the RTL."""

from collections.abc import Callable, Sequence
from typing import Final

from celosia.isa.presets import resolve_config
from celosia.lab.accuracy.models import model_accuracy
from celosia.lab.compilers.row import Row, System, gained
from celosia.lab.compilers.workload import Workload, run_ways
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.quantized import random_model
from celosia.sw.compiler.alternatives import plan_graph
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.models.cases import encoder_layer_case
from celosia.sw.quantize.ranges import CLIPS
from celosia.sw.reference.encoder import MINILM

__all__ = ["TENSORRT", "calibrations", "short_layer", "tensorrt"]

TENSORRT: Final = System(
    system="TensorRT",
    mechanism="calibration by four criteria; tactics recorded in the plan with their alternatives",
    claim="no paper",
    source="NVIDIA's documentation; Migacz, GTC 2017",
)
MODEL: Final = "bert-17"
"""The model of the corpus on which criteria of calibration are compared."""
_TOKENS: Final = 16
Calibrations = Callable[[Progress], Sequence[tuple[str, float]]]
"""`calibrations`, or what takes its place in a test."""
_DEFAULT: Final = "default"
_CHOSEN: Final = "as chosen"


def short_layer(tell: Progress) -> Workload:
    """A layer of MiniLM on 16 tokens: the compiler's default choices are made for long texts."""
    case = encoder_layer_case(random_model(MINILM.with_layers(2), 0, tell), [_TOKENS], 0)
    return Workload(case.graph.name, (case,))


def calibrations(tell: Progress) -> Sequence[tuple[str, float]]:
    """Each criterion of clipping, and the SQNR in dB of a model of the corpus with it."""
    return [(clip, model_accuracy(MODEL, clip, tell).sqnr_db) for clip in CLIPS]


def tensorrt(
    tell: Progress,
    workload: Workload | None = None,
    calibrate: Calibrations | None = calibrations,
    preset: str = "base",
) -> Row:
    """Graphs with the compiler's default choices, as chosen, and with each alternative recorded.

    The gain is that over the default choices: what is compiled if no alternative is compared.  A
    graph for which an alternative is not possible stays as chosen.
    """
    config, workload = resolve_config(preset), workload or short_layer(tell)
    graphs = [case.graph for case in workload.cases]
    planned = [plan_graph(graph, config, workload.timing) for graph in graphs]
    programs = {
        _DEFAULT: [compile_graph(graph, config) for graph in graphs],
        _CHOSEN: [each.compiled for each in planned],
    }
    for number, each in enumerate(planned):
        for (_, _, choices), rejected in zip(each.choices.others(), each.rejected, strict=True):
            if rejected.cycles is not None:
                name = f"{rejected.name} {rejected.value}"
                others = programs.setdefault(name, list(programs[_CHOSEN]))
                others[number] = compile_graph(graphs[number], config, Decide(choices))
    cycles, right = run_ways(workload, programs, config, tell)
    work = f"{workload.name}: {len(programs) - 2} alternatives to the tactics of its plan"
    if calibrate:
        ratios = ", ".join(f"{clip} {ratio:.1f}" for clip, ratio in calibrate(tell))
        work += f"; {MODEL} calibrated by {ratios} dB"
    return gained(TENSORRT, work, (_DEFAULT, _CHOSEN), cycles, right)
