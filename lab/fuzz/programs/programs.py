"""Seeded random programs: legal, with one defined result, and full of conflicts.

Every command is drawn at random and kept if it is legal (`celosia.isa.operations.semantics`) and
touches only a few local rows, which all three queues use again and again, and its regions of
memory.  What makes results depend on timing is avoided as the contract asks of every program: local
rows are written before they are read, and a FENCE stands between accesses to the same bytes of
memory unless both are stores, or a load has waited for the store's token.  At the end, all used
local rows leave to memory; `ProgramFile.checks` has everything that must be equal on all devices.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Final

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.encoding import (
    COMPUTE_PRELOADED,
    CONFIG_DRAIN,
    CONFIG_EX,
    CONFIG_EXPONENT,
    CONFIG_GELU,
    CONFIG_LD,
    CONFIG_NORM,
    CONFIG_ST,
    CONFIG_TOKEN,
    CONFIG_TRANSFORM,
    FENCE,
    MVIN,
    MVIN_PARAM,
    MVOUT,
    PRELOAD,
    TRANSFORM,
    Command,
    Function,
)
from celosia.isa.encoding.tokens import TokenWait
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.operations.loops import expand
from celosia.isa.operations.operations import (
    Load,
    LoadParameters,
    Operand,
    Operation,
    Product,
    Store,
)
from celosia.isa.operations.semantics import step
from celosia.isa.operations.transforms import Transform
from celosia.isa.presets import resolve_config
from celosia.isa.state.state import ArchState
from celosia.lab.fuzz.programs.commands import RandomCommands, Surroundings, Window
from celosia.lab.fuzz.programs.limits import LIMITS_STRIDE, limits, limits_region
from celosia.lab.fuzz.programs.loops import RandomLoops
from celosia.lab.fuzz.programs.ordering import Ordering
from celosia.lab.fuzz.programs.places import (
    PAGE,
    accumulator_windows,
    memory_span,
    regions,
    scratchpad_windows,
)
from celosia.lab.fuzz.programs.transforms import STATISTICS_SLOTS
from celosia.sw.driver.program_file import Content, ProgramFile

__all__ = ["Recipe", "random_program", "random_recipe"]

_MAX_TRIES: Final = 1000
_TOKEN_PERCENT: Final = 80
"""How often a token is taken where a FENCE is not needed."""


def random_program(
    seed: int,
    *,
    preset: str = "tiny",
    overrides: tuple[str, ...] = (),
    length: int = 100,
    loop_percent: int = 0,
) -> ProgramFile:
    """A program with about `length` random commands; the same arguments give the same program.

    As many percent of them are loops instead.
    """
    recipe, generator = _draw(seed, preset, overrides, length, loop_percent)
    return recipe.finish(generator)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What a random program is made from; parts of it can be left out, and it stays legal."""

    seed: int
    preset: str
    overrides: tuple[str, ...]
    middle: tuple[tuple[Command, ...], ...]
    """What is between prologue and epilogue: commands, and loops of several."""

    def program(self) -> ProgramFile:
        """The program; what is not legal is left out, and what orders memory is put in."""
        generator = _Generator(
            resolve_config(self.preset, self.overrides), Random(f"celosia {self.seed}")
        )
        generator.prologue()
        for commands in self.middle:
            generator.offer(commands)
        return self.finish(generator)

    def finish(self, generator: "_Generator") -> ProgramFile:
        """The program of a generator that has drawn, or taken, the middle."""
        generator.epilogue()
        memory = generator.memory
        return ProgramFile(
            preset=self.preset,
            overrides=self.overrides,
            memory_bytes=-(-(memory.dump.end - MEMORY_BASE) // PAGE) * PAGE,
            contents=(
                *(
                    Content(region, seed=self.seed * 3 + index)
                    for index, region in enumerate(memory.regions)
                ),
                limits(limits_region(generator.config, memory.source), self.seed),
            ),
            checks=memory.regions,
            commands=tuple(generator.commands),
        )


def random_recipe(
    seed: int,
    *,
    preset: str = "tiny",
    overrides: tuple[str, ...] = (),
    length: int = 100,
    loop_percent: int = 0,
) -> Recipe:
    """What `random_program` is made from."""
    return _draw(seed, preset, overrides, length, loop_percent)[0]


def _draw(
    seed: int, preset: str, overrides: tuple[str, ...], length: int, loop_percent: int
) -> tuple[Recipe, "_Generator"]:
    generator = _Generator(resolve_config(preset, overrides), Random(f"celosia {seed}"))
    generator.prologue()
    middle: list[tuple[Command, ...]] = []
    for _ in range(length):
        first = len(generator.commands)
        if loop_percent and generator.random.randrange(100) < loop_percent:
            generator.draw_loop()
            middle.append(tuple(generator.commands[first:]))
        else:
            generator.draw()
            middle += ((command,) for command in generator.commands[first:])
    recipe = Recipe(seed=seed, preset=preset, overrides=overrides, middle=tuple(middle))
    return recipe, generator


class _Generator:
    def __init__(self, config: AcceleratorConfig, random: Random):
        self.config = config
        self.random = random
        self.state = ArchState.reset(config)
        self.commands: list[Command] = []
        self.ordering = Ordering()
        self.memory = regions(config, random)
        self.places = Surroundings(
            scratchpad=scratchpad_windows(config),
            accumulator=accumulator_windows(config),
            parameters=Window(config.parameter_rows - 8, 8),
            sources=(self.memory.source, self.memory.shared),
            targets=(self.memory.shared,),
        )
        self.random_commands = RandomCommands(config, self.places, random, self.ordering)

    def draw(self) -> None:
        """Append one random legal command, and a FENCE before it if it needs one."""
        for _ in range(_MAX_TRIES):
            command = self.random_commands.draw()
            if self._acceptable(command):
                self._append(command)
                return
        raise AssertionError("no legal command found")

    def draw_loop(self) -> None:
        """Append a random loop of legal commands that need no FENCE, if one is found."""
        commands, local = self.random_commands.draw, self.random_commands.local
        loops = RandomLoops(self.config, self.random, commands, local)
        for _ in range(_MAX_TRIES):
            if self._take_loop(loops.draw()):
                return

    def offer(self, commands: Sequence[Command]) -> None:
        """Append a command and what it needs before it, or a loop, if it is legal here."""
        if len(commands) > 1:
            self._take_loop(commands)
        elif self._acceptable(commands[0]):
            self._append(commands[0])

    def _take_loop(self, loop: Sequence[Command]) -> bool:
        """Append `loop` if all that comes out of it is legal here and needs no FENCE."""
        state, ordering, first = self.state, deepcopy(self.ordering), len(self.commands)
        taken = all(self._appended(command) for _, command in expand(loop, self.config))
        del self.commands[first:]
        if taken:
            self.commands += loop
        else:
            self.state = state
            vars(self.ordering).update(vars(ordering))
        return taken

    def _appended(self, command: Command) -> bool:
        """Append `command`, unless it is not legal here or needs a FENCE; whether it was done."""
        # Strides may turn one CONFIG_TRANSFORM into another: constants stay as they are.
        kept = (FENCE, CONFIG_EXPONENT, CONFIG_GELU)
        if not self._acceptable(command) or any(each.matches(command) for each in kept):
            return False
        operation = step(command, self.state, self.config).operation
        span = memory_span(operation) if operation else None
        if operation and span and self.ordering.needs_fence(operation, *span):
            return False
        self._append(command)
        return True

    def prologue(self) -> None:
        """Write all local rows and the array's weights."""
        config, source = self.config, self.memory.source.address
        self._append(CONFIG_LD.encode(stride=7, block_stride=config.dim))
        for window in self.places.scratchpad:
            self._move_window(MVIN.encode, source, window, accumulator=False)
        self._append(CONFIG_LD.encode(stride=LIMITS_STRIDE, block_stride=config.dim))
        numbers = limits_region(config, self.memory.source).address
        for window in self.places.accumulator:
            self._move_window(MVIN.encode, numbers, window, accumulator=True)
        parameters = self.places.parameters
        count = parameters.rows * config.dim
        self._append(MVIN_PARAM.encode(dram=source + 5, row=parameters.first, count=count))
        self._append(
            PRELOAD.encode(
                b=self.places.scratchpad[0].first, b_cols=config.dim, b_rows=config.dim, c=GARBAGE
            )
        )
        if config.dataflow == "both":  # Both what weights and what sums stay in.
            self._append(CONFIG_EX.encode(weight_stationary=0))
            self._append(COMPUTE_PRELOADED.encode(a=GARBAGE, d=GARBAGE))
            self._append(CONFIG_EX.encode())
        self._append(COMPUTE_PRELOADED.encode(a=GARBAGE, d=GARBAGE))

        if config.normalization:
            self._know_rows()

    def _know_rows(self) -> None:
        """Write all statistics slots that the program uses."""
        accumulator = LocalAddress(row=self.places.accumulator[0].first, accumulator=True)
        staged = LocalAddress(row=self.places.scratchpad[0].first)
        self._append(CONFIG_NORM.encode(channels=self.config.dim))
        for function, source in (
            (Function.MAXIMUM, accumulator),
            (Function.MOMENTS, staged),
        ):
            self._append(CONFIG_TRANSFORM.encode(function=function, start=1, finish=1))
            self._append(
                TRANSFORM.encode(local=source.encode(), local_rows=STATISTICS_SLOTS, local_cols=1)
            )

    def epilogue(self) -> None:
        """Move all local rows out."""
        row, address = self.config.dim, self.memory.dump.address
        self._append(CONFIG_DRAIN.encode())
        self._append(CONFIG_ST.encode(stride=row))
        for window in self.places.scratchpad:
            self._move_window(MVOUT.encode, address, window, accumulator=False)
            address += window.rows * row
        self._append(CONFIG_ST.encode(stride=row * ACC_BYTES))
        for window in self.places.accumulator:
            self._move_window(MVOUT.encode, address, window, accumulator=True)
            address += window.rows * row * ACC_BYTES

    def _move_window(
        self, encode: Callable[..., Command], dram: int, window: Window, *, accumulator: bool
    ) -> None:
        local = LocalAddress(row=window.first, accumulator=accumulator, full=accumulator)
        self._append(
            encode(
                dram=dram,
                local=local.encode(),
                local_cols=self.config.dim,
                local_rows=window.rows,
            )
        )

    def _append(self, command: Command) -> None:
        done = step(command, self.state, self.config)
        assert not done.cause, f"{command}: {done.cause.name}"
        if operation := done.operation:
            span = memory_span(operation)
            if span and self.ordering.needs_fence(operation, *span):
                self._order(operation, span)
                self._append(command)
                return
            self.ordering.add(operation, span)
        self.commands.append(command)
        self.state = done.state
        if FENCE.matches(command):
            self.ordering.fence()
            if not self.ordering.reached(self.state.wait):  # The stores that it counts are over.
                self._append(self._token_command(None))

    def _order(self, operation: Operation, span: tuple[int, int]) -> None:
        """Let `operation` come after those before it that touch the bytes of `span`."""
        wait = self.ordering.wait_for(operation, *span)
        if wait and self.random.randrange(100) < _TOKEN_PERCENT:
            self._append(self._token_command(wait))
        else:
            self._append(FENCE.encode())

    def _token_command(self, wait: TokenWait | None) -> Command:
        """Let loads wait so from now on, and stores do what they did."""
        signal = self.state.signal
        waiting = {"wait": 1, "wait_id": wait.token, "count": wait.count} if wait else {}
        return CONFIG_TOKEN.encode(signal=signal is not None, signal_id=signal or 0, **waiting)

    def _acceptable(self, command: Command) -> bool:
        """Whether `command` is legal and stays within the program's rows and regions."""
        done = step(command, self.state, self.config)
        if done.cause:
            return False
        if not self.ordering.reached(done.state.wait):
            return False
        if done.operation is None:
            return not PRELOAD.matches(command) or self._usable(done.state)
        return self._reachable(done.operation)

    def _usable(self, state: ArchState) -> bool:
        """Whether a product with the weights and destination of `state` is acceptable."""
        done = step(COMPUTE_PRELOADED.encode(a=GARBAGE, d=GARBAGE), state, self.config)
        return done.operation is not None and self._reachable(done.operation)

    def _reachable(self, operation: Operation) -> bool:
        """Whether `operation` stays within the program's rows and regions."""
        spans = self._local_spans(operation)
        if not all(any(w.holds(first, last) for w in windows) for windows, first, last in spans):
            return False
        span = memory_span(operation)
        store = isinstance(operation, Store)
        allowed = self.places.targets if store else self.places.sources
        return span is None or any(r.address <= span[0] and span[1] < r.end for r in allowed)

    def _local_spans(self, operation: Operation) -> Iterator[tuple[tuple[Window, ...], int, int]]:
        """The windows that each range of local rows of `operation` must be in, and the range."""
        match operation:
            case LoadParameters(row=row, count=count):
                yield (self.places.parameters,), row, row - 1 - -count // self.config.dim
            case Product():
                for operand in (operation.a, operation.w, operation.d, operation.c):
                    if operand is not None and operand.lines:
                        yield self._windows(operand), operand.local.row, operand.last
            case Transform():
                yield from self._transform_spans(operation)
            case Load() | Store():
                blocks = operation.blocks(self.config.dim)
                first = operation.local.row
                last = first + operation.rows - 1 + (blocks - 1) * operation.pitch
                if isinstance(operation, Load):
                    first = operation.first(self.config)
                if operation.rows:
                    yield self._windows(operation), first, last
                if isinstance(operation, Store) and operation.bias_row is not None:
                    first = operation.bias_row
                    yield (self.places.parameters,), first, first + blocks - 1

    def _transform_spans(
        self, operation: Transform
    ) -> Iterator[tuple[tuple[Window, ...], int, int]]:
        dim, rows = self.config.dim, operation.rows
        residual = operation.residual(dim)
        matrices = [operation.source(dim), *operation.results(dim)]
        for matrix in matrices + ([residual] if residual else []):
            windows = (
                self.places.accumulator if matrix.local.accumulator else self.places.scratchpad
            )
            yield windows, matrix.local.row, matrix.last(rows)
        for first, count in operation.parameters(dim):
            yield (self.places.parameters,), first, first + count - 1
        if operation.uses_statistics:
            slot = operation.setting("statistics")
            yield (Window(0, STATISTICS_SLOTS),), slot, slot + rows - 1

    def _windows(self, place: Operand | Load | Store) -> tuple[Window, ...]:
        return self.places.accumulator if place.local.accumulator else self.places.scratchpad
