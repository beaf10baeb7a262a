"""Numbers of commands, and where they are in the program."""

from random import Random

import pytest

from celosia.isa.encoding import FENCE, MVIN, REPEAT, STRIDE
from celosia.isa.presets import resolve_config
from celosia.sw.driver.expansion import check_program, expanded_length, issued_command
from tests.support.loops import LoopPrograms

CONFIG = resolve_config("tiny")
LOAD = MVIN.encode(dram=0x8000_0000, local=4)
LOOP = [REPEAT.encode(count=3, length=2), LOAD, STRIDE.encode(addend2=1)]
PROGRAM = [FENCE.encode(), *LOOP, FENCE.encode()]


def test_commands_are_found_by_their_number():
    assert expanded_length(PROGRAM, CONFIG) == 5
    found = [issued_command(PROGRAM, CONFIG, number) for number in range(-1, 6)]
    assert [each and each.entry for each in found] == [None, 0, 2, 2, 2, 4, None]
    assert [each.text for each in found if each] == [
        "fence",
        "mvin dram=0x80000000 local=sp[4] "
        "(entry 2 of the program: mvin dram=0x80000000 local=sp[4])",
        "mvin dram=0x80000000 local=sp[5] "
        "(entry 2 of the program: mvin dram=0x80000000 local=sp[4])",
        "mvin dram=0x80000000 local=sp[6] "
        "(entry 2 of the program: mvin dram=0x80000000 local=sp[4])",
        "fence",
    ]


def test_not_all_of_a_long_program_is_counted():
    endless = [REPEAT.encode(count=65535, length=2), REPEAT.encode(count=65535, length=1), LOAD]
    assert expanded_length(endless, CONFIG, 100) == 100
    assert expanded_length(PROGRAM, CONFIG, 100) == 5


@pytest.mark.parametrize("seed", range(3))
def test_products_count_with_all_their_commands(seed):
    program, commands = LoopPrograms(CONFIG, Random(seed)).short_program(9)
    assert expanded_length(program, CONFIG) == len(commands)
    assert expanded_length(program, CONFIG, len(commands) - 1) == len(commands) - 1


def test_without_a_loop_engine_commands_are_what_they_are():
    config = resolve_config("tiny", ["loop_entries=0"])
    assert expanded_length(PROGRAM, config) == 5
    check_program(LOOP[:2], config)
    found = issued_command(PROGRAM, config, 1)
    assert found
    assert found.text == "repeat count=3 length=2"


@pytest.mark.parametrize("length", [1, 2])
def test_a_program_that_ends_within_a_body_is_refused(length):
    with pytest.raises(ValueError, match=f"command 2: repeat .*ends {3 - length} command"):
        check_program([FENCE.encode(), LOAD, *LOOP[:length]], CONFIG)
    check_program([FENCE.encode(), *LOOP], CONFIG)


@pytest.mark.parametrize("values", [{"count": 0}, {"length": 0}, {"length": 257}])
def test_a_repeat_that_takes_no_body_needs_none(values):
    check_program([REPEAT.encode(**{"count": 1, "length": 9, **values})], CONFIG)


def test_marks_count_what_comes_out_of_loops():
    check_program(PROGRAM, CONFIG, [0, 4, 4])
    with pytest.raises(ValueError, match=r"mark 5: .* it has 5"):
        check_program(PROGRAM, CONFIG, [5])
    with pytest.raises(ValueError, match="1 comes after 2"):
        check_program(PROGRAM, CONFIG, [2, 1])
