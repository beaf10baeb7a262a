"""What a library raises, and what it prints."""

import os

import pytest

from celosia.sw.reference.language.foreign_library import Refused, refusing


class PanicException(BaseException):
    """As the classes of Rust's panics are called."""


def test_what_is_raised_is_a_refusal_and_a_panic_prints_nothing(capfd):
    for kind, printed in ((PanicException, ""), (ValueError, "stack\n")):
        with pytest.raises(Refused, match="why"), refusing():
            _fail(kind)
        assert capfd.readouterr().err == printed


def _fail(kind):
    os.write(2, b"stack\n")
    raise kind("why")


def test_what_others_print_meanwhile_is_printed(capfd):
    with refusing():
        os.write(2, b"a line\n")
        assert capfd.readouterr().err == ""
    assert capfd.readouterr().err == "a line\n"


def test_who_interrupts_is_not_held_up():
    with pytest.raises(KeyboardInterrupt), refusing():
        raise KeyboardInterrupt
