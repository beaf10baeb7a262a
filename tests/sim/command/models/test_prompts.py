"""Prompts are an option's, or lines of a file's, and an empty one is named."""

from pathlib import Path

import pytest

from celosia.sim.command.models.prompts import Prompt, given_prompts
from celosia.sim.support.problems import InputError


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Files are in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def test_one_prompt_or_those_of_the_lines():
    assert given_prompts("Once", None) == [Prompt("Once", "--prompt")]
    Path("p.txt").write_text("Once upon\n a time\n")
    found = given_prompts(None, Path("p.txt"))
    assert [each.text for each in found] == ["Once upon", " a time"]
    assert [each.where for each in found] == ["p.txt, line 1", "p.txt, line 2"]


@pytest.mark.parametrize(
    ("prompt", "lines", "message"),
    [
        (None, None, "--prompt: give it, or --prompts FILE with a prompt in each line"),
        ("Once", "a\n", "--prompts p.txt: has prompts, beside --prompt 'Once'"),
        ("", None, "--prompt '': is empty; write at least one letter"),
        (None, "", "--prompts p.txt: has no line"),
        (None, "a\n\nb\n", "p.txt, line 2 '': is empty; write at least one letter"),
        (None, "a\nb\n \n", "p.txt, line 3 ' ': is empty"),
        (None, b"\xff\xfe", "--prompts p.txt: not a text file"),
    ],
)
def test_prompts_that_are_none_are_refused(prompt, lines, message):
    file = None if lines is None else Path("p.txt")
    if file and lines is not None:
        file.write_bytes(lines if isinstance(lines, bytes) else lines.encode())
    with pytest.raises(InputError) as caught:
        given_prompts(prompt, file)
    assert str(caught.value).startswith(message)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"--prompts nowhere\.txt: No such file"):
        given_prompts(None, Path("nowhere.txt"))
