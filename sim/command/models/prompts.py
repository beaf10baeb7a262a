"""What texts begin with: an option, or the lines of a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from celosia.isa.foreign_file import ForeignFileError, read_text
from celosia.sim.support.problems import InputError

__all__ = ["Prompt", "given_prompts"]

_MOST_BYTES: Final = 16 << 20
"""The largest file of prompts that is opened."""


@dataclass(frozen=True)
class Prompt:
    """What a text begins with."""

    text: str
    where: str
    """What messages call it."""


def given_prompts(prompt: str | None, file: Path | None) -> list[Prompt]:
    """The prompt of `--prompt`, or those of the lines of `file`.

    Raises `InputError` for neither and for both, a file that cannot be read or has no line, and an
    empty prompt, with the number of its line.
    """
    if file is None:
        if prompt is None:
            raise InputError("--prompt: give it, or --prompts FILE with a prompt in each line")
        found = [Prompt(prompt, "--prompt")]
    else:
        if prompt is not None:
            raise InputError(f"--prompts {file}: has prompts, beside --prompt {prompt!r}")
        try:
            lines = read_text(file, _MOST_BYTES).splitlines()
        except ForeignFileError as error:
            raise InputError(f"--prompts {error}") from None
        found = [Prompt(line, f"{file}, line {n}") for n, line in enumerate(lines, 1)]
        if not found:
            raise InputError(f"--prompts {file}: has no line")
    for each in found:
        if not each.text.strip():
            raise InputError(f"{each.where} {each.text!r}: is empty; write at least one letter")
    return found
