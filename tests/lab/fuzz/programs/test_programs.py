"""Random programs: legal, repeatable, with one result, and with everything in them."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.bert import Activation, NormCommand
from celosia.isa.encoding import (
    CONFIG_BERT,
    CONFIG_EXPONENT,
    CONFIG_GELU,
    CONFIG_TOKEN,
    FENCE,
    INSTRUCTIONS,
    Funct,
    Function,
    identify,
)
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.operations.operations import Load, LoadParameters, Product, Store
from celosia.isa.operations.semantics import LOOP_FUNCTS, step
from celosia.isa.operations.transforms import Transform
from celosia.isa.registers.errors import Cause
from celosia.isa.state.state import ArchState
from celosia.isa.state.transform_state import TransformState
from celosia.lab.fuzz.programs.programs import random_program
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.program_file import format_program, parse_program

TRANSFORMS = ("normalization=true", "statistics_rows=16")
TRANSFORM_FUNCTS = (Funct.CONFIG_TRANSFORM, Funct.TRANSFORM)
seeds = st.integers(0, 1 << 32)
presets = st.sampled_from(("tiny", "small", "base", "gemmini4"))


def operations(program):
    """The operations of a program; every command must be legal."""
    state = ArchState.reset(program.config)
    for command in program.commands:
        done = step(command, state, program.config)
        assert done.cause == Cause.NONE
        state = done.state
        if done.operation is not None or FENCE.matches(command):
            yield done.operation


def run(program, seed):
    """What a program leaves in the regions to check, for a seed of the garbage at power-on."""
    device = FunctionalDevice(program.config, memory_bytes=program.memory_bytes, seed=seed)
    device.write(MEMORY_BASE, program.memory_image())
    device.run(program.commands)
    return [device.read(region.address, region.size) for region in program.checks]


@given(seeds, presets)
def test_a_program_is_legal_and_does_not_depend_on_garbage(seed, preset):
    program = random_program(seed, preset=preset, length=60)
    assert len(program.commands) >= 60
    assert run(program, 1) == run(program, 2)


@given(seeds, st.sampled_from((2, 64)))
def test_other_configurations_have_programs_too(seed, dim):
    overrides = (f"dim={dim}", "scratchpad_kib=64", "accumulator_kib=128", "parameter_rows=8")
    program = random_program(seed, preset="base", overrides=overrides, length=30)
    assert program.config.dim == dim
    assert run(program, 1) == run(program, 2)


def test_the_same_seed_gives_the_same_program():
    assert random_program(5) == random_program(5) != random_program(6)


def test_a_program_survives_as_text():
    program = random_program(7, overrides=("dim=8",))
    assert parse_program(format_program(program)) == program


def spans(operation):
    """First byte and first byte behind, of what an operation may touch in memory."""
    match operation:
        case Load() | Store() if not (isinstance(operation, Load) and operation.zero):
            size = operation.cols * (4 if operation.wide else 1)
            for row in range(operation.rows):
                address = (operation.address + row * operation.stride) % (1 << 64)
                yield address, address + size
        case LoadParameters():
            yield operation.address, operation.address + 4 * operation.count


def loads_after_tokens(program):
    """How many loads read what a store wrote, with no more than a token between the two.

    Asserts that there is a token, or a fence, wherever bytes are read and written.
    """
    read, written, signals, ended, found = set(), [], Counter(), 0, 0
    places = {}
    for operation in operations(program):
        if operation is None:
            read, written, signals, ended = set(), [], Counter(), 0
            continue
        touched = {byte for first, end in spans(operation) for byte in range(first, end)}
        if isinstance(operation, Store):
            assert not touched & read
            written.append(touched)
            if (token := operation.signal) is not None:
                signals[token] += 1
                places[token, signals[token]] = len(written)
        elif isinstance(operation, Load | LoadParameters):
            if operation.wait:
                assert operation.wait.count <= signals[operation.wait.token]
                if operation.wait.count:
                    ended = max(ended, places[operation.wait.token, operation.wait.count])
            assert not touched & set().union(*written[ended:])
            found += bool(touched & set().union(*written))
            read |= touched
    return found


@given(seeds)
def test_a_fence_or_a_token_stands_between_accesses_to_the_same_bytes(seed):
    loads_after_tokens(random_program(seed, length=80))


def test_tokens_often_stand_for_fences(many):
    """In three loads of a program, on average; how often differs much from program to program."""
    more = [random_program(seed, length=200) for seed in range(20, 60)]
    assert sum(map(loads_after_tokens, [*many, *more])) >= 180


def test_about_half_of_the_waits_are_for_stores_that_signal(many):
    """The others wait for none: they show that this costs nothing, but not that a wait works."""
    tokens = [
        CONFIG_TOKEN.decode(command)
        for program in many
        for command in program.commands
        if identify(command) is CONFIG_TOKEN
    ]
    waits = [token["count"] > 0 for token in tokens if token["wait"]]
    assert sum(waits) > 0.4 * len(waits) > 40


@pytest.fixture(scope="module")
def many():
    return [random_program(seed, length=200) for seed in range(20)]


def test_every_instruction_occurs(many):
    counts = Counter(identify(command) for program in many for command in program.commands)
    others = (*TRANSFORM_FUNCTS, *LOOP_FUNCTS)
    wanted = [known for known in INSTRUCTIONS.values() if known.funct not in others]
    assert all(counts[known] >= 20 for known in wanted if known is not CONFIG_BERT)


def test_every_loop_occurs():
    programs = [random_program(seed, length=100, loop_percent=30) for seed in range(8)]
    counts = Counter(command.funct for program in programs for command in program.commands)
    assert all(counts[funct] >= 10 for funct in LOOP_FUNCTS)


def test_every_form_of_gemmini_occurs():
    programs = [random_program(seed, preset="gemmini4", length=200) for seed in range(18)]
    found = [op for program in programs for op in operations(program)]
    products = [op for op in found if isinstance(op, Product) and op.resident]
    stores = [op for op in found if isinstance(op, Store)]
    passing = [op.passing for op in stores if op.passing]
    counts = {
        "from D": sum(op.d is not None for op in products),
        "from zeros": sum(op.d is None and op.resident.start for op in products if op.resident),
        "accumulated": sum(not op.resident.start for op in products if op.resident),
        "shifted": sum(op.resident.shift > 0 for op in products if op.resident),
        "to scratchpad": sum(bool(op.c and not op.c.local.accumulator) for op in products),
        "both transposed": sum(bool(op.w and op.w.transposed) for op in products),
        "apart": sum(bool(op.c and op.c.stride > 1) for op in products),
        "pooled": sum(op.pooling is not None for op in stores),
        "repeated": sum(isinstance(op, Load) and op.repeats > 1 for op in found),
        **{f"norm {known.name}": sum(p.command is known for p in passing) for known in NormCommand},
        **{
            f"activation {known.name}": sum(p.activation is known for p in passing)
            for known in Activation
        },
    }
    assert all(count >= 5 for count in counts.values()), counts


def test_every_function_is_applied_where_there_is_a_normalization_unit():
    programs = [random_program(seed, overrides=TRANSFORMS, length=200) for seed in range(50)]
    found = [op for program in programs for op in operations(program) if isinstance(op, Transform)]
    counts = Counter(op.setting("function") for op in found)
    assert all(counts[function] >= 5 for function in Function)
    reset = TransformState.reset(programs[0].config)
    for known, functions in (
        (CONFIG_EXPONENT, (Function.EXPONENT, Function.SUM, Function.PROBABILITY, Function.SILU)),
        (CONFIG_GELU, (Function.GELU,)),
    ):
        own = [op for op in found if op.state.fields[known.name] != reset.fields[known.name]]
        counts = Counter(op.setting("function") for op in own)
        assert all(counts[function] >= 5 for function in functions)


@pytest.mark.parametrize("seed", range(5))
def test_transforms_do_not_depend_on_garbage(seed):
    program = random_program(seed, overrides=TRANSFORMS, length=200)
    assert run(program, 1) == run(program, 2)


def test_every_form_of_an_operation_occurs(many):
    found = [op for program in many for op in operations(program) if op is not None]
    moves = [op for op in found if isinstance(op, Load)]
    stores = [op for op in found if isinstance(op, Store)]
    products = [op for op in found if isinstance(op, Product)]
    forms = {
        "zeros": [op for op in moves if op.zero],
        "accumulated": [op for op in moves if op.local.accumulator and op.local.accumulate],
        "shrunk": [op for op in moves if op.local.accumulator and op.shrunk],
        "wide": [op for op in moves if op.wide],
        "blocks": [op for op in moves if op.blocks(4) > 1],
        "backwards": [op for op in moves if op.stride >> 63],
        "full": [op for op in stores if op.wide],
        "raw": [op for op in stores if not op.local.accumulator],
        "biased": [op for op in stores if op.bias_row is not None],
        "relu": [op for op in stores if op.relu],
        "a transposed": [op for op in products if op.a and op.a.transposed],
        "w transposed": [op for op in products if op.w and op.w.transposed],
        "a unsigned": [op for op in products if op.a_unsigned],
        "d": [op for op in products if op.d],
        "no weights": [op for op in products if op.load_weights and not op.w],
        "weights kept": [op for op in products if not op.load_weights],
        "no a": [op for op in products if not op.a],
        "no c": [op for op in products if not op.c],
        "many rows": [op for op in products if op.c and op.c.rows > 4],
        "padded": [op for op in products if op.a and op.c and op.c.rows > op.a.rows],
        "strides": [op for op in products if op.c and op.c.stride != 1 and op.c.rows > 1],
        "to scratchpad": [op for op in products if op.c and not op.c.local.accumulator],
        "accumulate": [op for op in products if op.c and op.c.local.accumulate],
    }
    assert not [name for name, members in forms.items() if len(members) < 5]
