"""One point of a space: a workload on a configuration, and the line that it becomes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig, ConfigError
from celosia.isa.memory import MemoryTiming
from celosia.lab.sweep.predict import predict_workload
from celosia.lab.sweep.version import whole_version
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.outcome import Runner
from celosia.sim.run.report import Report
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.cache import digest
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.support.workers import Needs
from celosia.sim.verilator.build import is_built

__all__ = ["MODEL", "SIMULATORS", "Done", "Line", "Point", "evaluate", "line_of"]

MODEL: Final = "model"
"""The name of the timeline among the simulators."""
_VERILATOR: Final = "verilator"
"""The name of the one that is built for each configuration."""

Line = dict[str, Any]
"""A point and what became of it, as an object for JSON; nothing in it depends on who computed it,
or when."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Point:
    """A workload, what measures it, and a configuration or the rule that it breaks."""

    run: str
    """The workload, as `celosia run` takes it."""
    sim: str
    choices: Mapping[str, Any]
    """What the space's options are here."""
    key: str
    """A digest of all that the result depends on."""
    options: RunOptions | None = None
    config: AcceleratorConfig | None = None
    refused: str = ""
    """The rule that this configuration breaks, if it does."""
    version: str = field(default_factory=whole_version)
    """The sources of whoever made the point."""


@dataclass(frozen=True)
class Done:
    """What became of a point."""

    line: Line
    report: Mapping[str, Any] | None = None
    """The report of a run, if there was one."""


def point_key(run: str, sim: str, config: AcceleratorConfig, timing: MemoryTiming) -> str:
    """The key of a legal point: configurations that are the same have the same, however named."""
    return digest([run, sim, repr(asdict(config)), repr(asdict(timing)), whole_version()])


def evaluate(point: Point, runner: Runner = run_workload) -> Done:
    """Compute a point, in whatever process.

    Raises `EnvironmentProblem` where a tool is missing, or other sources are at work than those
    that made the point; what is illegal or wrong is a line.
    """
    if point.version != whole_version():
        raise EnvironmentProblem(
            f"a worker has version {whole_version()}, the sweep is of {point.version}: install "
            "the same celosia on both (docs/cluster.md)"
        )
    options, config = point.options, point.config
    assert options is not None
    assert config is not None
    try:
        if point.sim == MODEL:
            found = predict_workload(options, config)
            return Done(line_of(point, **asdict(found)))
        target = replace(options.target.on(config), simulator=point.sim)
        outcome = runner(replace(options, target=target), silent)
    except (InputError, ConfigError) as error:
        return Done(line_of(point, refused=str(error)))
    return Done(line_of(point, **_measured(outcome.report)), outcome.document())


def _simulator(point: Point) -> tuple[AcceleratorConfig] | None:
    if point.sim != _VERILATOR or point.config is None:
        return None
    return (point.config,)


SIMULATORS: Final = Needs(_simulator, is_built)
"""What must be built before a point is measured."""


def line_of(point: Point, **found: Any) -> Line:
    """The line of `point`, with what was `found`."""
    return {
        "key": point.key,
        "run": point.run,
        "sim": point.sim,
        "space": dict(point.choices),
        **found,
    }


def _measured(report: Report) -> dict[str, Any]:
    """What a run adds to its line: `wrong` stands there if its results were not right."""
    total = report.total
    known = {
        "cycles": total.cycles,
        "read_bytes": total.dram_read_bytes,
        "write_bytes": total.dram_write_bytes,
    }
    if report.right:
        return known
    message = total.failure.message if total.failure else f"{total.mismatches} wrong elements"
    return {**known, "wrong": message}
