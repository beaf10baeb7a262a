"""TensorRT: calibration by each criterion, and tactics with their alternatives on the RTL."""

from collections.abc import Callable, Sequence
from typing import Final

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.accuracy.models import model_accuracy
from celosia.lab.compilers.graph_cycles import graph_cycles
from celosia.lab.compilers.row import Row, System
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.quantized import random_model
from celosia.sw.compiler.alternatives import plan_graph
from celosia.sw.compiler.pipeline import Decide, compile_graph
from celosia.sw.models.cases import Case, encoder_layer_case
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
_DEFAULT: Final = "default"
_CHOSEN: Final = "as chosen"


def short_layer(tell: Progress) -> Case:
    """A layer of MiniLM on 16 tokens: the compiler's default choices are made for long texts."""
    return encoder_layer_case(random_model(MINILM.with_layers(2), 0, tell), [_TOKENS], 0)


def calibrations(tell: Progress) -> Sequence[tuple[str, float]]:
    """Each criterion of clipping, and the SQNR in dB of a model of the corpus with it."""
    return [(clip, model_accuracy(MODEL, clip, tell).sqnr_db) for clip in CLIPS]


def tensorrt(
    tell: Progress,
    make: Callable[[Progress], Case] = short_layer,
    calibrate: Callable[[Progress], Sequence[tuple[str, float]]] = calibrations,
    preset: str = "base",
) -> Row:
    """A graph with the compiler's default choices, as chosen, and with each alternative recorded.

    The gain is that over the default choices: what is compiled if no alternative is compared.
    """
    config, timing, case = resolve_config(preset), MemoryTiming(), make(tell)
    planned = plan_graph(case.graph, config, timing)
    programs = {
        _DEFAULT: compile_graph(case.graph, config),
        _CHOSEN: planned.compiled,
    }
    alternatives = zip(planned.choices.others(), planned.rejected, strict=True)
    for (_, _, choices), rejected in alternatives:
        if rejected.cycles is not None:
            name = f"{rejected.name} {rejected.value}"
            programs[name] = compile_graph(case.graph, config, Decide(choices))
    cycles, right = dict[str, int](), True
    for name, program in programs.items():
        tell(name, None)
        cycles[name], good = graph_cycles(case, program, config, timing)
        right = right and good
    ratios = ", ".join(f"{clip} {ratio:.1f}" for clip, ratio in calibrate(tell))
    return Row(
        about=TENSORRT,
        work=f"{case.graph.name}: {len(programs) - 2} alternatives to the tactics of its plan; "
        f"{MODEL} calibrated by {ratios} dB",
        gain=cycles[_DEFAULT] / cycles[_CHOSEN] if cycles[_CHOSEN] else None,
        cycles=cycles,
        right=right,
    )
