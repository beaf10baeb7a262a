"""Lengths of texts, and what ranges are chosen by, for a decoder that is never computed."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from celosia.sim.command.models import text_model
from celosia.sim.command.models.prompts import Prompt
from celosia.sim.command.models.text_model import (
    check_known,
    own_model,
    project_model,
    read_graph,
    tokens_of,
)
from celosia.sim.support.problems import InputError
from celosia.sw.reference.language.model_file import load_language_model

VOCABULARY = 500


class Letters:
    """A tokenizer of letters: `a` is token 0, and so on."""

    end = None

    def encode(self, text, frame=False):
        return [ord(letter) - ord("a") for letter in text]


LETTERS: Any = Letters()


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Files are in a folder of their own; a decoder is its length."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(text_model, "read_graph", lambda _, context: SimpleNamespace(at=context))
    monkeypatch.setattr(text_model, "vocabulary_of", lambda _: VOCABULARY)


def own(text: str, tokens: int, calibration: str | None = None):
    path = None
    if calibration is not None:
        path = Path("text.txt")
        path.write_text(calibration)
    return own_model(Path("model.onnx"), LETTERS, [Prompt(text, "--prompt")], tokens, path)


@pytest.mark.parametrize(("prompt", "tokens"), [(2, 4080), (4000, 82), (82, 4000)])
def test_the_last_step_of_the_longest_text_fills_a_row_of_scores(prompt, tokens):
    """A row has 4,096 keys; the last step computes 16 rows, and its first one is a token's."""
    found = own("b" * prompt, tokens)
    assert found.context == prompt + tokens - 1 == 4096 - 16 + 1
    with pytest.raises(InputError, match=f"--tokens {tokens + 1}: with the {prompt} of --prompt"):
        own("b" * prompt, tokens + 1)


def test_the_longest_of_some_prompts_needs_the_most_room():
    prompts = [Prompt("b" * count, f"prompt {count}") for count in (3, 9, 5)]
    found = own_model(Path("model.onnx"), LETTERS, prompts, 4, None)
    assert found.context == 9 + 4 - 1
    with pytest.raises(InputError, match="with the 9 of prompt 9 they are more than the 4082 of"):
        own_model(Path("model.onnx"), LETTERS, prompts, 4074, None)


def test_a_text_of_the_projects_model_ends_with_its_context():
    """The token in front of a text is none of the prompt, and takes the last one's place."""
    model = load_language_model(None)
    prompt = "Return the"
    count = len(model.tokenizer.encode(prompt))
    room = model.weights.shape.context - count
    found = project_model(None, [Prompt(prompt, "--prompt")], room)
    assert found.context == model.weights.shape.context
    assert project_model(None, [Prompt(prompt, "--prompt")], 3).context == count + 3
    with pytest.raises(InputError, match=f"--tokens {room + 1}: .* of the model's context"):
        project_model(None, [Prompt(prompt, "--prompt")], room + 1)


@pytest.mark.parametrize(("count", "windows"), [(1, 1), (64, 1), (65, 2), (4096, 64), (4097, 33)])
def test_windows_of_a_text_are_64_at_most_and_reach_its_end(count, windows):
    letters = "".join(chr(ord("a") + number % 20) for number in range(count))
    found = own("b", 100, letters).windows
    assert len(found) == windows <= 64
    assert {len(each) for each in found[:-1]} <= {64}
    assert 1 <= len(found[-1]) <= 64
    tokens = LETTERS.encode(letters)
    step = 64 * (1 if count <= 4096 else 2)
    assert [list(each) for each in found] == [
        tokens[start : start + 64] for start in range(0, count, step)
    ]


def test_random_windows_have_tokens_of_the_model_and_the_length_of_its_text():
    """As long as for a longer text, so that a short one has the same integers."""
    for tokens, length in ((9, 64), (200, 64)):
        found = own("bcd", tokens)
        assert [len(each) for each in found.windows] == [length] * 16
        drawn = {token for each in found.windows for token in each}
        assert drawn <= set(range(VOCABULARY))
        assert max(drawn) > VOCABULARY - 20 > 20 > min(drawn)
        assert "random tokens; --calibrate takes a text" in found.note
    assert own("b", 9, "abc").note == ""


def test_a_window_is_no_longer_than_a_text_where_the_file_takes_no_more(monkeypatch):
    def read(_, context):
        if context > 20:
            raise InputError("too long")
        return SimpleNamespace(at=context)

    monkeypatch.setattr(text_model, "read_graph", read)
    found = own("bcd", 9)
    assert {len(each) for each in found.windows} == {11}
    with pytest.raises(InputError, match="too long"):
        own("bcd", 30)


@pytest.mark.parametrize(("context", "read"), [(1, 8), (7, 8), (8, 8), (9, 9), (4081, 4081)])
def test_a_file_is_read_for_enough_tokens_to_show_what_is_causal(monkeypatch, context, read):
    """A single token sees itself alone, whether a mask is there or not."""
    reader: Any = SimpleNamespace(read_decoder=lambda path, length: (path, length))
    monkeypatch.setattr(text_model, "import_extra", lambda *_: reader)
    assert read_graph(Path("m.onnx"), context) == (Path("m.onnx"), read)


def test_tokens_that_the_model_has_not_are_refused_with_their_place():
    check_known("--prompt", [0, VOCABULARY - 1], VOCABULARY)
    with pytest.raises(InputError, match=r"--prompt: token 1 is 500 by --tokenizer, .* 0\.\.499"):
        check_known("--prompt", [0, VOCABULARY], VOCABULARY)
    strange = chr(ord("a") + VOCABULARY)
    with pytest.raises(InputError, match="--prompt: token 2 is 500"):
        own(f"bc{strange}", 4)
    with pytest.raises(InputError, match=r"--calibrate text\.txt: token 0 is 500"):
        own("bc", 4, strange)


def test_what_has_no_tokens_or_is_no_file_is_refused():
    with pytest.raises(InputError, match="--prompt '': has no tokens"):
        own("", 4)
    Path("empty").touch()
    with pytest.raises(InputError, match="--draft-text empty: has no text"):
        tokens_of("--draft-text", Path("empty"), LETTERS)
    with pytest.raises(InputError, match="--draft-text none: No such file"):
        tokens_of("--draft-text", Path("none"), LETTERS)


def test_a_text_has_up_to_64_mib(tmp_path):
    """Sparse files: nothing is written, and what is too large is not read."""
    counting: Any = SimpleNamespace(encode=lambda text: [len(text)] * bool(text))
    path = tmp_path / "text"
    for size in (0, 100_000, (64 << 20) + 1):
        with path.open("wb") as file:
            file.truncate(size)
        if size == 100_000:
            assert tokens_of("--text", path, counting) == [size]
            continue
        with pytest.raises(InputError, match=r"--text .*text: .*"):
            tokens_of("--text", path, counting)
