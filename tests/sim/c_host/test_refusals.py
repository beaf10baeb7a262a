"""What the functional simulator in C++ refuses is what the one in Python, the definition, does."""

from collections import Counter
from random import Random

import pytest

from celosia.isa.encoding import (
    CONFIG_EXPONENT,
    CONFIG_GELU,
    CONFIG_TOKEN,
    CONFIG_TRANSFORM,
    FLUSH,
    MVIN,
    MVIN_PARAM,
    REPEAT,
    STRIDE,
    TRANSFORM,
    Function,
)
from celosia.isa.encoding.gemmini_loops import LOOP_WS
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.operations.semantics import step
from celosia.isa.presets import resolve_config
from celosia.isa.registers.errors import describe
from celosia.isa.state.state import ArchState
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.fuzz.programs.commands import RandomCommands, Surroundings, Window
from celosia.sim.fuzz.programs.ordering import Ordering
from celosia.sim.fuzz.programs.places import accumulator_windows, regions, scratchpad_windows
from celosia.sw.driver.assembly import format_command
from celosia.sw.driver.device import DeviceError
from tests.support.c_host import SIMS, c_host

ACCUMULATOR = 1 << 31
DRAWN, OF_EACH = 20_000, 4
MOVE = MVIN.encode(dram=MEMORY_BASE, local=0, local_rows=1, local_cols=1)
WALK = TRANSFORM.encode(local=ACCUMULATOR, local_rows=1, local_cols=1)


@pytest.mark.parametrize("preset", ["tiny", "gemmini4"])
def test_random_commands_break_the_same_rules(preset):
    config, random = resolve_config(preset), Random(preset)
    memory = regions(config, random)
    places = Surroundings(
        scratchpad=scratchpad_windows(config),
        accumulator=accumulator_windows(config),
        parameters=Window(config.parameter_rows - 8, 8),
        sources=(memory.source, memory.shared),
        targets=(memory.shared,),
    )
    commands = RandomCommands(config, places, random, Ordering())
    state, program, seen = ArchState.reset(config), [], Counter()
    for _ in range(DRAWN):
        command = commands.draw()
        done = step(command, state, config)
        if not done.cause and done.operation is None:
            program, state = [*program[-2000:], command], done.state
            continue
        function = state.transform.get(CONFIG_TRANSFORM, "function")
        kind = done.cause, command.funct, function if TRANSFORM.matches(command) else None
        seen[kind] += 1
        if done.cause and seen[kind] <= OF_EACH:
            told = c_host(preset).refusal("functional", [*program, command])
            assert f"celosia: {done.cause.name}: {describe(done.cause)}\n" in told
            assert f"\n  command {len(program)}: {format_command(command)}\n" in told
    causes = {cause.name for cause, *_ in seen}
    assert causes >= {"NONE", "UNSUPPORTED", "SHAPE", "LOCAL_RANGE", "OVERLAP"}


@pytest.mark.parametrize(
    ("configuration", "function", "what"),
    [
        (CONFIG_EXPONENT.encode(inverse_ln2=32767, lowest=65535), Function.SUM, "quotient: "),
        (CONFIG_EXPONENT.encode(b=65535), Function.EXPONENT, "polynomial: "),
        (CONFIG_EXPONENT.encode(c=0), Function.PROBABILITY, "exp(0)"),
        (CONFIG_EXPONENT.encode(shift=0), Function.SUM, "exp(0)"),
        (CONFIG_GELU.encode(b=32767), Function.GELU, "gelu: c: "),
        (CONFIG_GELU.encode(shift=0), Function.GELU, "gelu: 2 * c >> shift: "),
    ],
)
def test_constants_without_a_defined_result(configuration, function, what):
    program = [configuration, CONFIG_TRANSFORM.encode(function=function, type=1), WALK]
    with pytest.raises(ValueError, match="not in"):
        FunctionalDevice(resolve_config("tiny")).run(program)
    told = c_host().refusal("functional", program)
    assert what in told
    assert "not in" in told
    assert "\n  command 2: transform target=sp[0]" in told
    # They do no harm where they are not used.
    program[1] = CONFIG_TRANSFORM.encode(function=Function.MAXIMUM)
    c_host().play("functional", program, bytes(64))


@pytest.mark.parametrize("load", [MOVE, MVIN_PARAM.encode(dram=MEMORY_BASE, count=1)])
def test_a_load_that_waits_for_ever(load):
    program = [CONFIG_TOKEN.encode(wait=1, wait_id=3, count=1), load]
    with pytest.raises(DeviceError, match="0 of 1 stores") as wrong:
        FunctionalDevice(resolve_config("tiny")).run(program)
    told = c_host().refusal("functional", program)
    assert "WATCHDOG: load waits for token 3: 0 of 1 stores have finished\n" in told
    assert f"\n  command {wrong.value.command}: {format_command(load)}\n" in told


@pytest.mark.parametrize("sim", SIMS)
@pytest.mark.parametrize(
    ("program", "number", "what"),
    [
        ([MOVE, STRIDE.encode()], 1, "LOOP: "),
        ([REPEAT.encode(count=0, length=1), MOVE], 0, "LOOP: "),
        ([REPEAT.encode(count=2, length=2), MOVE, REPEAT.encode(count=1, length=1)], 1, "LOOP: "),
        ([REPEAT.encode(count=9, length=2), MOVE, WALK], 1, "LOCAL_RANGE"),
        ([REPEAT.encode(count=3, length=1), LOOP_WS.encode()], 0, "UNKNOWN_FUNCT"),
    ],
    ids=["stride", "count", "nested", "a rule", "another loop"],
)
def test_a_loop_that_is_wrong_names_what_came_out_of_it(sim, program, number, what):
    walk = TRANSFORM.encode(local=ACCUMULATOR + (1 << 20), local_rows=1, local_cols=1)
    told = c_host().refusal(sim, [walk if each == WALK else each for each in program])
    assert f"celosia: {what}" in told
    assert f"\n  command {number}: " in told
    assert "(not remembered)" not in told


@pytest.mark.parametrize("sim", SIMS)
def test_a_body_that_does_not_end(sim):
    told = c_host().refusal(sim, [FLUSH.encode(), REPEAT.encode(count=2, length=3), MOVE])
    assert told.startswith("celosia: 2 commands of the body are missing: repeat count=2 length=3\n")
