"""One random program under one random memory: what it is, and whether two devices agree on it."""

import random
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Final

from celosia.isa.memory import CHANNELS, MEMORY_BASE, MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.isa.registers.events import ARRAY_OWNERS
from celosia.lab.fuzz.coverage import owner_points
from celosia.lab.fuzz.programs.programs import Recipe, random_recipe
from celosia.sim.devices.devices import open_device
from celosia.sim.devices.rtl_device import RING_ENTRIES
from celosia.sw.driver.device import ISSUES, Device, DeviceError, Issue
from celosia.sw.driver.program_file import ProgramFile, Region, format_program

__all__ = ["Case", "difference", "draw_case", "replay_command", "replay_file"]

_LENGTHS: Final = (8, 20, 40, 80)
_RINGS: Final = (2, 5, 16, 64, RING_ENTRIES)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A program, how its commands arrive, and how its memory behaves."""

    recipe: Recipe
    timing: MemoryTiming
    issue: Issue
    ring_entries: int

    def without(self, kept: list[int]) -> "Case":
        """The case with only those of its middle commands whose indices are in `kept`."""
        middle = tuple(self.recipe.middle[index] for index in kept)
        return replace(self, recipe=replace(self.recipe, middle=middle))


def draw_case(seed: int, preset: str, overrides: tuple[str, ...]) -> Case:
    """The case of `seed`."""
    rng = random.Random(f"celosia case {seed}")
    config = resolve_config(preset, overrides)
    recipe = random_recipe(
        seed,
        preset=preset,
        overrides=overrides,
        length=rng.choice(_LENGTHS),
        loop_percent=rng.choice((0, 0, 10)) if config.loop_entries else 0,
    )
    timing = MemoryTiming(
        latency=rng.choice((1, 2, 5, 17, 40, 100)),
        bytes_per_cycle=rng.choice((config.bus_bytes, max(1, config.bus_bytes // 2), 64)),
        stall_percent=rng.choice((0, 0, 20, 60)),
        channel_stalls=rng.choice(((), (), ((rng.choice(CHANNELS), 90),))),
        reorder=rng.random() < 0.3,
        ready_after_valid=rng.random() < 0.2,
        seed=seed % (1 << 31),
    )
    return Case(
        recipe=recipe, timing=timing, issue=rng.choice(ISSUES), ring_entries=rng.choice(_RINGS)
    )


def difference(
    case: Case, program: ProgramFile, simulator: str, owners: Counter[str] | None = None
) -> str:
    """A text that says where the RTL differs from the functional model; empty if nowhere.

    All of memory is compared, also what the program should leave alone.  The owners of cycles
    count in `owners`.
    """
    # Other garbage at power-on than in the RTL: what depends on it is no result.
    wanted, trouble = _run(case, program, "functional", MemoryTiming(seed=case.timing.seed + 1))
    if trouble:
        return f"the functional model stops: {trouble}"
    got, trouble = _run(case, program, simulator, case.timing, owners)
    if trouble:
        return trouble
    if got == wanted:
        return ""
    places = [place for place, pair in enumerate(zip(got, wanted, strict=True)) if len({*pair}) > 1]
    first = places[0]
    return (
        f"{len(places)} bytes differ, the first at {MEMORY_BASE + first:#x}: "
        f"{got[first]:#04x}, not {wanted[first]:#04x}"
    )


def _run(
    case: Case,
    program: ProgramFile,
    simulator: str,
    timing: MemoryTiming,
    owners: Counter[str] | None = None,
) -> tuple[bytes, str]:
    """All of memory after `program`, and why it stopped, if it did."""
    config = resolve_config(program.preset, program.overrides)
    device: Device = open_device(simulator, config, timing, program.memory_bytes)
    try:
        rtl: Any = device
        if simulator != "functional":
            rtl.ring_entries = case.ring_entries
        for content in program.contents:
            device.write(content.region.address, content.bytes())
        counters = device.run(program.commands, case.issue).counters
        if owners is not None:
            owners.update(owner_points(counters))
        owned = sum(counters[owner.name] for owner in ARRAY_OWNERS) if counters else 0
        if counters and owned != counters["cycles"]:
            return b"", f"owners of {owned} cycles, but there were {counters['cycles']}"
        return device.read(MEMORY_BASE, program.memory_bytes), ""
    except DeviceError as error:
        return b"", str(error)
    finally:
        device.close()


def replay_command(case: Case, path: str, simulator: str) -> str:
    """The command line that runs `case` again."""
    timing = case.timing
    words = ["celosia", "run", path, "--sim", simulator, "--issue", case.issue]
    words += ["--mem-latency", timing.latency, "--mem-bytes-per-cycle", timing.bytes_per_cycle]
    words += ["--mem-stall-percent", timing.stall_percent, "--seed", timing.seed]
    for channel, percent in timing.channel_stalls:
        words += ["--mem-channel-stall", f"{channel}={percent}"]
    words += ["--mem-reorder"] * timing.reorder + ["--mem-late-ready"] * timing.ready_after_valid
    return " ".join(map(str, words))


def replay_file(case: Case, path: str, simulator: str, why: str) -> str:
    """A program file that shows the difference, all of memory checked."""
    program = case.recipe.program()
    everything = replace(program, checks=(Region(MEMORY_BASE, program.memory_bytes),))
    ring = f", ring of {case.ring_entries} entries" if case.issue == "ring" else ""
    head = f"# {why.splitlines()[0]}\n# {replay_command(case, path, simulator)}{ring}\n"
    return head + format_program(everything)
