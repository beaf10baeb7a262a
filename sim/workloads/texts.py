"""Texts of the command line as tokens, and what is wrong with them as the user's errors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError

__all__ = ["text_problems", "tokens_of"]


def tokens_of(texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each of `texts` for the published model.

    Raises `InputError` for a text that is not UTF-8, empty or too long, and `EnvironmentProblem`
    without the model.
    """
    # Loaded when it is asked for: no workload without text needs it.
    published = import_module("celosia.sw.reference.published")
    with text_problems(texts):
        return published.tokenize(texts)


@contextmanager
def text_problems(texts: Sequence[str]) -> Iterator[None]:
    """Turn what the published model raises for `texts` into errors as `tokens_of` has them."""
    for text in texts:
        try:
            text.encode()  # The shell hands over bytes that are no text as surrogates.
        except UnicodeEncodeError:
            raise InputError(f"--text {text!r}: not UTF-8") from None
    published = import_module("celosia.sw.reference.published")
    try:
        yield
    except published.MissingModelError as error:
        raise EnvironmentProblem(str(error)) from None
    except ValueError as error:
        raise InputError(f"--text: {error}") from None
