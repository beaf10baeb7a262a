"""Runs a workload on the exported RTL, in which nothing sleeps, and records signals."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.devices.simulation import Setup
from celosia.sim.export.design import for_any_tool
from celosia.sim.export.models import ram_models
from celosia.sim.export.rams import RamPlatform
from celosia.sim.export.silicon.power.waves import Recorded, read_wave
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import Progress, share
from celosia.sim.verilator.build import MODEL_TOP, build_model
from celosia.sim.verilator.build_options import BuildOptions, Wave
from celosia.sim.verilator.harness.binding import Goal
from celosia.sim.verilator.verilog import to_verilog
from celosia.sim.wave.model import WaveModel, hierarchy
from celosia.sim.wave.request import WaveRequest
from celosia.sim.wave.top import WaveTop
from celosia.sim.wave.verilated import VerilatorWaveDevice
from celosia.sw.driver.device import Device

__all__ = ["READ", "Design", "cut_windows", "joined_windows", "record", "write_design"]

_RUNNING: Final = 0.5
"""The share of a recording that its run takes, about."""
READ: Final = 0.9
"""Where reading it ends; simulating gates follows."""
_OPTIONS: Final = BuildOptions(wave=Wave.VCD)


@dataclass(frozen=True)
class Design:
    """The RTL that is measured: what is simulated and what is mapped are one text."""

    config: AcceleratorConfig
    verilog: str
    models: str
    """The modules of its memories."""


def write_design(config: AcceleratorConfig) -> Design:
    """The accelerator as `celosia verilog` exports it, with memories as black boxes."""
    platform = RamPlatform()
    top = WaveTop(config)
    text = to_verilog(top, MODEL_TOP, platform, ports=top.ports)
    return Design(config, for_any_tool(text), ram_models(sorted(platform.rams, reverse=True)))


def record(
    design: Design,
    options: RunOptions,
    windows: Sequence[tuple[int, int]],
    scopes: Iterable[str],
    tell: Progress,
    *,
    only: str | None = None,
) -> Iterator[dict[str, Recorded]]:
    """The signals of `scopes` in the cycles of each of `windows`, START:STOP, which are in order.

    The run ends behind the last one.  `only` is the scope that the file has; None: all.  Raises
    what `run_workload` raises, and `EnvironmentProblem` for a run that is over before.
    """
    # Signals that cross borders of modules without a name are recorded, what Yosys invented not.
    text = (design.verilog + design.models).replace("\\$", "\\_$")
    model = WaveModel(build_model(text, design.config, _OPTIONS, tell), hierarchy(text))
    spans = joined_windows(windows)

    def opener(
        name: str,
        config: AcceleratorConfig,
        timing: MemoryTiming,
        memory_bytes: int,
        *,
        progress: Progress,
    ) -> Device:
        return _Recording(
            request, Setup(config, timing, memory_bytes, progress), model, share(tell, 0, _RUNNING)
        )

    def building(text: str, _done: float | None) -> None:
        tell(text, None)

    on = replace(options, target=options.target.on(design.config))
    with tempfile.TemporaryDirectory(prefix="celosia-energy-") as work:
        path = Path(work) / "ports.vcd"
        request = WaveRequest(
            path=path, start=spans[0][0], stop=spans[-1][1], scope=only, parts=tuple(spans)
        )
        with suppress(_Recorded):
            run_workload(on, building, opener)
            raise EnvironmentProblem(
                f"{options.workload}: was over before cycle {request.stop:,}, the last one to be "
                "recorded"
            )
        parts = zip(spans, read_wave(path, scopes, spans), strict=True)
        for number, (span, recorded) in enumerate(parts):
            reading = f"reading what was recorded, part {number + 1} of {len(spans)}"
            tell(reading, _RUNNING + (READ - _RUNNING) * number / len(spans))
            inside = [each for each in windows if span[0] <= each[0] < span[1]]
            yield from cut_windows(recorded, span, inside)


class _Recorded(Exception):
    """All is recorded that was asked for."""


class _Recording(VerilatorWaveDevice):
    """Ends its run behind what is to be recorded."""

    def __init__(self, request: WaveRequest, setup: Setup, model: WaveModel, tell: Progress):
        super().__init__(request, setup, model)
        self._tell = tell

    def _advance(self, edges: int, goal: Goal) -> None:
        super()._advance(edges, goal)
        if not (recording := self._recording):
            return
        cycles, stop = self._library.celosia_trace_cycles(self._open()), recording.request.stop
        if cycles > stop:
            self._recording = None
            recording.keep(self._finish(recording))
            raise _Recorded
        self._tell(f"running to cycle {stop:,}, to record ports", cycles / stop)


def joined_windows(windows: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """`windows`, START:STOP in order, with those as one that touch."""
    spans: list[tuple[int, int]] = []
    for start, stop in windows:
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(stop, spans[-1][1])
        else:
            spans.append((start, stop))
    return spans


def cut_windows(
    recorded: Mapping[str, Recorded],
    span: tuple[int, int],
    windows: Iterable[tuple[int, int]],
) -> Iterator[dict[str, Recorded]]:
    """What was `recorded` in the cycles of `span`, in each of `windows` of these."""
    for start, stop in windows:
        cycles = slice(start - span[0], stop - span[0])
        yield {
            scope: Recorded({name: bits[cycles] for name, bits in each.signals.items()})
            for scope, each in recorded.items()
        }
