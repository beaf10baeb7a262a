"""Which errors are messages, and with which exit code."""

import errno
import os

import pytest
import typer

from celosia.isa.config import ConfigError
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.guard import guarded, run_guarded
from celosia.sim.support.problems import InputError, OutputError
from celosia.sw.driver.program_file import ProgramError


def outcome(error):
    @guarded
    def command():
        raise error

    with pytest.raises(typer.Exit) as raised:
        command()
    return raised.value.exit_code


@pytest.mark.parametrize(
    "kind", [ConfigError, ProgramError, InputError, OutputError, EnvironmentProblem]
)
def test_bad_input_is_its_message_and_exit_code_2(capsys, kind):
    assert outcome(kind("value [1]: the rule")) == 2
    assert capsys.readouterr().err == "celosia: value [1]: the rule\n"


def test_a_long_message_is_one_line(capsys):
    outcome(InputError("word " * 100))
    assert capsys.readouterr().err.count("\n") == 1


def test_what_the_system_refuses_is_a_message(capsys):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/x")
    assert outcome(full) == 2
    assert capsys.readouterr().err == "celosia: /tmp/x: No space left on device\n"


@pytest.mark.parametrize("text", ["", "array of 9 TiB"])
def test_too_little_memory_is_a_message(capsys, text):
    assert outcome(MemoryError(text)) == 2
    assert "out of memory" in capsys.readouterr().err


def test_an_interruption_is_exit_code_130():
    assert outcome(KeyboardInterrupt()) == 130


def test_a_fault_of_our_own_is_not_hidden():
    @guarded
    def command():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        command()


def test_a_command_that_ends_well_gives_its_result():
    assert guarded(lambda x: x + 1)(1) == 2


@pytest.mark.parametrize(
    ("error", "code"), [(None, 0), (SystemExit(1), 1), (KeyboardInterrupt(), 130)]
)
def test_a_program_ends_with_its_exit_code(error, code):
    def program():
        if error:
            raise error

    with pytest.raises(SystemExit) as raised:
        run_guarded(program)
    assert raised.value.code == code
