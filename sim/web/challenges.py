"""Challenges: slow programs that one makes as fast as the compiler's.

A challenge begins with what the compiler has made of a product, and something then spoiled.  Both
run on the RTL when the page is made: the bound is what the compiler's own program takes.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_LD, FENCE, LOADS, Command, Funct, identify
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.web.recorded import MEMORY_BYTES, Recording, WrongResultError, record
from celosia.sw.models.cases import Case, matmul_case

__all__ = ["CHALLENGES", "Challenge", "Posed", "by_rows", "fenced", "pose"]

_SEED: Final = 1
_WAITED_FOR: Final = (*(load.funct for load in LOADS), Funct.PRODUCTS, Funct.TRANSFORM)

Spoil = Callable[[Sequence[Command]], Iterator[Command]]


def fenced(commands: Sequence[Command]) -> Iterator[Command]:
    """`commands`, with a FENCE behind each one that loads, multiplies or transforms."""
    for command in commands:
        yield command
        if command.funct in _WAITED_FOR:
            yield FENCE.encode()


def by_rows(commands: Sequence[Command]) -> Iterator[Command]:
    """`commands`, with a load for each row."""
    strides = dict.fromkeys(range(len(LOADS)), 0)
    sets = {int(load.funct): number for number, load in enumerate(LOADS)}
    for command in commands:
        instruction = identify(command)
        values = instruction.decode(command) if instruction else {}
        if instruction is CONFIG_LD:
            strides[values["set"]] = values["stride"]
        if instruction is None or command.funct not in sets:
            yield command
            continue
        for row in range(values["local_rows"]):
            place = {
                "dram": values["dram"] + row * strides[sets[command.funct]],
                "local": values["local"] + row,
                "local_rows": 1,
            }
            yield instruction.encode(**{**values, **place})


def _both(commands: Sequence[Command]) -> Iterator[Command]:
    return fenced(list(by_rows(commands)))


@dataclass(frozen=True)
class Challenge:
    """A product, and how its program is spoiled."""

    title: str
    hint: str
    make: Callable[[], Case]
    spoil: Spoil


CHALLENGES: Final[Mapping[str, Challenge]] = {
    "fences": Challenge(
        "A product of 8x8x8 that waits too often",
        "A FENCE waits for all before it.  Commands wait by themselves for what they need.",
        lambda: matmul_case(8, 8, 8, _SEED),
        fenced,
    ),
    "rows": Challenge(
        "A product of 4x8x16 whose loads are small",
        "A load takes up to a tile's rows, and asks memory for all of them at once.",
        lambda: matmul_case(4, 8, 16, _SEED),
        by_rows,
    ),
    "both": Challenge(
        "A product of 8x4x16 that does both",
        "Loads of one row, and a FENCE behind each.",
        lambda: matmul_case(8, 4, 16, _SEED),
        _both,
    ),
}
"""The challenges by name; the page begins with the first."""


@dataclass(frozen=True, kw_only=True)
class Posed:
    """A challenge that was run on the RTL."""

    answer: Recording
    """The compiler's program."""
    spoiled: tuple[Command, ...]
    cycles: int
    """What the spoiled program takes."""


def pose(challenge: Challenge, config: AcceleratorConfig) -> Posed:
    """Run the compiler's program, and the spoiled one, which must leave the same memory.

    Raises as `record` does.
    """
    timing = MemoryTiming()
    answer = record(challenge.make(), config, timing)
    spoiled = tuple(challenge.spoil(answer.commands))
    with closing(VerilatorDevice(config, timing, MEMORY_BYTES)) as device:
        device.write(MEMORY_BASE, answer.memory)
        result = device.run(spoiled)
        left = device.read(MEMORY_BASE, len(answer.memory))
    if result.cycles is None or hashlib.sha256(left).hexdigest() != answer.digest:
        raise WrongResultError(f"{challenge.title}: the spoiled program leaves other results")
    return Posed(answer=answer, spoiled=spoiled, cycles=result.cycles)
