"""What REPEAT, STRIDE and PRODUCTS stand for: other commands, which do all the work.

They are expanded before anything else looks at them: rules, hazards and counters know only the
commands that come out.  A loop that is not well formed comes out as the command that is at fault,
which no rule accepts (`Cause.LOOP`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, takewhile
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    CONFIG_PRODUCTS,
    REPEAT,
    STRIDE,
    WORD_BITS,
    Command,
    Funct,
)
from celosia.isa.encoding.loops import ADDEND_BITS, LANE_BITS, LANES
from celosia.isa.operations.loop_ws import LoopWs
from celosia.isa.operations.product_nest import ProductNest

__all__ = ["MAX_LOOP_DEPTH", "LoopState", "advance", "expand", "missing_commands", "unroll"]

MAX_LOOP_DEPTH: Final = 4
"""Loops in each other."""

_CACHED: Final = 1024
_WORD: Final = (1 << WORD_BITS) - 1
_LANE: Final = (1 << LANE_BITS) - 1


@dataclass(slots=True)
class LoopState:
    """What is configured from one program to the next, until a reset."""

    strides: Command = field(default_factory=CONFIG_PRODUCTS.encode)
    """The last CONFIG_PRODUCTS."""
    loop_ws: LoopWs | None = None
    """What LOOP_WS knows, if it is built and was looked for."""


def expand(
    program: Iterable[Command], config: AcceleratorConfig, state: LoopState | None = None
) -> Iterator[tuple[int, Command]]:
    """The commands that `program` stands for, each with the index of the one that it is made of.

    `state` is as the program finds it, and then as it leaves it; None: after a reset.
    """
    for index, unit in unroll(program, config, state):
        if isinstance(unit, Command):
            yield index, unit
        else:
            for each in unit.commands():
                yield index, each


def unroll(
    program: Iterable[Command], config: AcceleratorConfig, state: LoopState | None = None
) -> Iterator[tuple[int, Command | ProductNest]]:
    """As `expand`, but each PRODUCTS in one piece, unless LOOP_WS has to see its commands."""
    state = state or LoopState()
    for index, unit in _unroll_own(program, config, state):
        if not config.loop_ws:
            yield index, unit
            continue
        state.loop_ws = state.loop_ws or LoopWs(config)
        for command in (unit,) if isinstance(unit, Command) else unit.commands():
            yield from state.loop_ws.expand(command, index)
    if state.loop_ws:
        yield from state.loop_ws.finish()


def _unroll_own(
    program: Iterable[Command], config: AcceleratorConfig, state: LoopState
) -> Iterator[tuple[int, Command | ProductNest]]:
    """REPEAT and STRIDE are gone, and a PRODUCTS that is well formed is in one piece."""
    if not config.loop_entries:
        yield from enumerate(program)
        return
    for index, command in _repeat(program, config):
        if command.funct == Funct.CONFIG_PRODUCTS:
            state.strides = command
            continue
        if command.funct == Funct.PRODUCTS:
            nest = ProductNest.decode(command, state.strides, config.dim)
            yield index, command if nest is None else nest
            continue
        yield index, command


def missing_commands(program: Sequence[Command], config: AcceleratorConfig) -> tuple[int, int]:
    """How many commands of a REPEAT's body `program` ends without, and the REPEAT's index."""
    start = index = 0
    while config.loop_entries and index < len(program):
        start, index = index, index + 1
        if program[start].funct == Funct.REPEAT:
            values = REPEAT.decode(program[start])
            if _has_body(values) and values["length"] <= config.loop_entries:
                index += values["length"]
    return (index - len(program), start) if index > len(program) else (0, 0)


def advance(operand: int, addend: int, wraps: tuple[int, ...]) -> int:
    """`operand` plus `addend`, lane by lane; lane i wraps in `wraps[i]` bits (0: it carries on)."""
    if not addend:
        return operand
    if addend >> ADDEND_BITS - 1:
        addend -= 1 << ADDEND_BITS
    if not any(wraps):
        return operand + addend & _WORD
    result, carry = 0, 0
    for lane in range(LANES):
        low = lane * LANE_BITS
        old, by, wrap = operand >> low & _LANE, addend >> low & _LANE, wraps[lane]
        total = old + by + carry
        if wrap:
            mask, carry = (1 << wrap) - 1, 0
            total = old & ~mask | total & mask
        else:
            carry = total >> LANE_BITS
        result |= (total & _LANE) << low
    rest = (operand >> ADDEND_BITS) + (addend >> ADDEND_BITS) + carry
    return (result | rest << ADDEND_BITS) & _WORD


def _repeat(program: Iterable[Command], config: AcceleratorConfig) -> Iterator[tuple[int, Command]]:
    """`program` without REPEAT and STRIDE."""
    commands = enumerate(program)
    for index, command in commands:
        if command.funct != Funct.REPEAT:
            yield index, command
            continue
        values = REPEAT.decode(command)
        length = values["length"]
        if values["count"] and 0 < length <= config.loop_entries:
            body = [command, *(entry for _, entry in islice(commands, length))]
            if len(body) == 1 + length:
                for place, issued in _walk(body):
                    yield index + place, issued
                continue
        yield index, command


def _has_body(values: Mapping[str, int]) -> bool:
    """Whether a REPEAT with these fields repeats anything, and each command of it at least once."""
    count, length, left_out = (values[name] for name in ("count", "length", "left_out"))
    return count > int(left_out > 0) and left_out < length


@dataclass(slots=True)
class _Loop:
    """A REPEAT that has begun."""

    start: int
    exit: int
    """Place where iterations are counted: behind the commands of the last one."""
    end: int
    left: int
    """Iterations of the part that runs, with this one: that before `exit`, or that behind it."""
    limit: int
    """Place where the part that runs ends."""

    def ends(self) -> int | None:
        """The place behind a part; None: the loop is over."""
        if self.limit == self.exit:
            self.left -= 1
            if not self.left:
                return None
        again = self.limit == self.end
        self.limit = self.exit if again else self.end
        return self.start if again else self.exit


def _walk(body: list[Command]) -> Iterator[tuple[int, Command]]:
    """The commands of a REPEAT and the commands behind it, each with its place among these."""
    loops: list[_Loop] = []
    place = 0
    while True:
        while loops and place == loops[-1].limit:
            behind = loops[-1].ends()
            place = loops.pop().end if behind is None else behind
        if place == len(body):
            return
        command = body[place]
        if command.funct == Funct.REPEAT:
            values = REPEAT.decode(command)
            end = place + 1 + values["length"]
            left = end - values["left_out"]
            loop = _Loop(place + 1, left, end, values["count"], left)
            within = len(body) if not loops else loops[-1].limit
            if not (_has_body(values) and end <= within and len(loops) < MAX_LOOP_DEPTH):
                yield place, command
                return
            loops.append(loop)
            place += 1
            continue
        yield place, command
        if command.funct == Funct.STRIDE:
            return
        strides = _strides(body, place + 1, loops)
        outward = next((n for n, loop in enumerate(reversed(loops)) if loop.left > 1), len(loops))
        if outward < len(strides):
            body[place] = _advanced(command, strides[outward])
        place += 1 + len(strides)


def _strides(body: list[Command], start: int, loops: list[_Loop]) -> list[Command]:
    """The STRIDEs from `start` on: at most one for each loop."""
    most = body[start : min(start + len(loops), loops[-1].limit)]
    return list(takewhile(lambda command: command.funct == Funct.STRIDE, most))


def _advanced(command: Command, stride: Command) -> Command:
    first, second = _addends(stride)
    return Command(command.funct, advance(command.rs1, *first), advance(command.rs2, *second))


@lru_cache(_CACHED)
def _addends(stride: Command) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """What a STRIDE adds to each operand, and the wraps of its lanes."""
    values = STRIDE.decode(stride)
    return tuple(
        (values[f"addend{n}"], tuple(values[f"wrap{n}_{lane}"] for lane in range(LANES)))
        for n in (1, 2)
    )
