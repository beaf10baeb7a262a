"""Which errors are messages, and with which exit code."""

import errno
import os
import signal
import tempfile

import pytest
import typer

from celosia.isa.config import ConfigError
from celosia.sim.support.cache import CACHE_VARIABLE
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


def test_a_mistake_of_our_own_is_not_hidden_from_tests():
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


def test_sigterm_interrupts_a_program():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with pytest.raises(SystemExit) as raised:
            run_guarded(lambda: os.kill(os.getpid(), signal.SIGTERM))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert raised.value.code == 130


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def unforeseen(error, capsys):
    @guarded
    def program():
        raise error

    with pytest.raises(SystemExit) as raised:
        run_guarded(program)
    assert raised.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("; the mistake is Celosia's, please report it")
    return line


@pytest.mark.parametrize("error", [ZeroDivisionError("a\nb"), RecursionError(), AssertionError()])
def test_what_nobody_has_foreseen_is_a_sentence_and_a_saved_traceback(cache, capsys, error):
    lines = [unforeseen(error, capsys) for _ in range(2)]
    assert f"celosia: {type(error).__name__}" in lines[0]
    saved = list((cache / "tracebacks").iterdir())
    assert len(saved) == 2, "none is overwritten"
    for path in saved:
        assert sum(str(path) in line for line in lines) == 1
        assert path.read_text().startswith("Traceback (most recent call last):")
        assert "raise error" in path.read_text()


def test_where_the_cache_is_no_folder_a_traceback_is_a_temporary_file(
    cache, capsys, monkeypatch, tmp_path
):
    cache.write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    line = unforeseen(KeyError("x"), capsys)
    (saved,) = tmp_path.glob("traceback-*.txt")
    assert f"the traceback is in {saved};" in line


def test_where_nothing_can_be_written_there_is_the_sentence(cache, capsys, monkeypatch, tmp_path):
    cache.write_text("")
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    assert "its traceback could not be written" in unforeseen(KeyError("x"), capsys)
