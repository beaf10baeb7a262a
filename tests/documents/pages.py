"""What pages show: blocks, and lines of a shell with commands of Celosia."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import typer

from celosia.sim.cli import app
from tests.test_references import ROOT, tracked

BLOCK = re.compile(r"^```(\w*).*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`(celosia(?: |\n)[^`\n]+(?:\n[^`\n]+)*)`")
"""A command in the middle of a sentence, which may go on in the next lines."""
_SHOWN = re.compile(f"{BLOCK.pattern}|{SPAN.pattern}", re.MULTILINE | re.DOTALL)
_TYPED = re.compile(r"^(?:[\w ]+\$ |(\$) )?(?:\.venv/bin/)?(celosia [a-z-].*)$")
"""A line of a block that is a command, with a prompt or without."""
_COMMENT = re.compile(r" +#(?: .*)?$")
_JOINTS = re.compile(r" (?:\|\|?|&&) |; ")
"""What stands between two commands of a line."""
_END = re.compile(r" (?:>|2>|\.\.\.)(?: |$)")
"""What ends a command's own words."""
_ABBREVIATED = re.compile(r"\.\.\.|\[|\||<")
"""A form of a command, and not one to type."""


@dataclass(frozen=True)
class Line:
    """What a page gives to type; `output` is what it shows of the answer, in the same block."""

    text: str
    output: str = ""
    in_sentence: bool = False

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands of Celosia in it, each without what is piped or written elsewhere."""
        parts = (_END.split(part)[0].strip() for part in _JOINTS.split(self.text))
        return tuple(part for part in parts if part.startswith("celosia "))


def pages() -> list[str]:
    return [name for name in tracked() if name.endswith(".md") and (ROOT / name).exists()]


def lines(text: str) -> Iterator[Line]:
    """All lines to type of a page, in order: those of blocks, and commands in sentences."""
    for shown in _SHOWN.finditer(text):
        language, block, span = shown.groups()
        if span is not None:
            if not _ABBREVIATED.search(span):
                yield Line(" ".join(span.split()), in_sentence=True)
        elif language == "sh":
            yield from (Line(line) for line in _joined(block) if line.strip())
        else:
            yield from _typed(_joined(block))


def _joined(block: str) -> list[str]:
    return block.replace("\\\n", " ").splitlines()


def _typed(block: list[str]) -> Iterator[Line]:
    """Commands of a block that may have other lines, too; behind `$` goes what they print."""
    found = [(at, match) for at, line in enumerate(block) if (match := _TYPED.match(line.strip()))]
    for number, (at, match) in enumerate(found):
        end = found[number + 1][0] if number + 1 < len(found) else len(block)
        output = "\n".join(block[at + 1 : end]) if match[1] else ""
        yield Line(_COMMENT.sub("", match[2]).strip(), output)


def is_mention(command: str) -> bool:
    """Whether it lacks what it cannot do without, as where a sentence speaks of an option."""
    found, words = _found(command)
    if hasattr(found, "commands") or not words or _ends_in_option(command):
        return True
    needed = any(each.param_type_name == "argument" and each.required for each in found.params)
    return "--help" not in words and needed and words[0].startswith("-")


def _ends_in_option(command: str) -> bool:
    return _problem(command).endswith("requires an argument.") and (
        command.rsplit(maxsplit=1)[-1].startswith("--")
    )


def problem(command: str) -> str:
    """Why the command line does not have `command`; empty if it has.

    It may end with an option that is spoken of, without a value.
    """
    return _problem(f"{command} X" if _ends_in_option(command) else command)


@cache
def _root() -> Any:
    return typer.main.get_command(app)


def _found(command: str) -> tuple[Any, list[str]]:
    """The command or group that the first words name, and the words behind them.

    A group may take a word itself, before the name of its command.
    """
    found: Any = _root()
    words = shlex.split(command)[1:]
    taken = False
    while words and not words[0].startswith("-") and hasattr(found, "commands"):
        if words[0] in found.commands:
            found, taken = found.commands[words.pop(0)], False
        elif taken or not any(each.param_type_name == "argument" for each in found.params):
            break
        else:
            words.pop(0)
            taken = True
    return found, words


def _problem(command: str) -> str:
    found, words = _found(command)
    path = " ".join(["celosia", *shlex.split(command)[1:]][: -len(words) or None])
    if hasattr(found, "commands"):  # A group, or what it prints of itself.
        return "" if not words or words[0].startswith("-") else f"{path} has no {words[0]}"
    settings = found.context_settings
    parser = found.make_parser(typer.Context(found, info_name=path, **settings))
    try:
        _, left, _ = parser.parse_args(words)
    except typer.TyperException as error:
        return f"{path}: {error}"
    if settings.get("ignore_unknown_options"):
        return _problem(f"celosia run {shlex.join(left)}")  # The options of a workload.
    return f"{path}: {left} are too many words" if left else ""
