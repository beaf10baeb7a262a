"""`celosia generate MODEL.onnx`, from outside."""

import os
from dataclasses import replace
from pathlib import Path

import onnx
import pytest

from celosia.lab.exports.decoders.llama import llama
from celosia.lab.exports.writing.size import SMALL
from celosia.sim.command.models import written_text
from celosia.sim.support import extras
from celosia.sw.reference.language.shape import LayerShape
from tests.support.command_line import invoke, refused, right
from tests.support.decoder_exports import EXPORTED, exported, save, save_tokenizer

UNLIKE = (
    LayerShape(heads=3, key_heads=1, head_width=16, hidden=48),
    LayerShape(heads=4, key_heads=4, head_width=16, hidden=128),
)
OWN = ("generate", "model.onnx", "--tokenizer", "t.json", "--tokens", "5", "--temperature", "0")
FUNCTIONAL = (*OWN, "--sim", "functional", "--preset", "tiny", "--prompt")
FLOAT = (*OWN, "--sim", "float", "--prompt")


@pytest.fixture(autouse=True)
def files():
    """A model and a tokenizer in the current folder."""
    save(exported("opt"))
    save_tokenizer()


@pytest.mark.parametrize(
    "name",
    [
        # With learned positions; the next test but one has rotations, and
        # `tests/sw/decoding/test_read.py` reads all.
        pytest.param(each, marks=() if each == "opt" else pytest.mark.slow)
        for each in EXPORTED
    ],
)
def test_a_file_goes_on_with_a_text_with_a_cache_or_without(name):
    found = []
    for cached in (False, True):
        save(exported(name, cached))
        result = right(*FUNCTIONAL, "Hello")
        assert "0 of" in result.stdout
        assert "note: ranges are chosen by random tokens" in result.stdout
        found.append(result.stdout)
    assert found[0] == found[1]
    assert found[0].startswith("Hello")
    assert len(found[0].splitlines()[0]) > len("Hello")
    assert right(*FLOAT, "Hello").stdout.startswith("Hello")


def test_layers_of_a_file_need_not_be_alike():
    save(llama(replace(SMALL, unlike=UNLIKE), 0))
    result = right(*FUNCTIONAL, "Hello", "--tokens", "3")
    assert result.stdout.startswith("Hello")
    assert "0 of" in result.stdout


def test_lines_of_a_file_go_on_as_each_does_alone():
    """Ranges are those of windows of 64 tokens, however long the other texts are.

    Alone, they go on without a cache; lines of a file, with one.
    """
    save(exported("llama"))
    words, lines = (*OWN, "--sim", "functional", "--tokens", "3"), ["Hello", "Once upon"]
    Path("p.txt").write_text("".join(f"{line}\n" for line in lines))
    alone = [right(*words, "--prompt", line).stdout.splitlines()[0] for line in lines]
    save(exported("llama", cached=True))
    found = right(*words, "--prompts", "p.txt").stdout
    assert found.startswith(f"1: {alone[0]}\n2: {alone[1]}\n")


@pytest.mark.slow
def test_rtl_says_what_tokens_cost():
    words = (*OWN, "--preset", "tiny", "--prompt", "Hello")
    assert "of one token" in right(*words).stdout


def test_ranges_are_chosen_by_a_text():
    Path("text.txt").write_text("Some letters and digits 0123 " * 40)
    result = right(*FUNCTIONAL, "Hello", "--calibrate", "text.txt")
    assert "note" not in result.stdout
    Path("empty.txt").write_text("")
    refused("empty.txt: has no text", *FUNCTIONAL, "a", "--calibrate", "empty.txt")
    refused("No such file", *FUNCTIONAL, "a", "--calibrate", "nowhere.txt")


def test_drafts_leave_the_text_of_a_file_as_it_is():
    plain = right(*FUNCTIONAL, "Hello").stdout.splitlines()[0]
    Path("text.txt").write_text(plain * 3)
    found = right(*FUNCTIONAL, "Hello", "--speculate", "4", "--draft-text", "text.txt").stdout
    assert found.splitlines()[0] == plain
    # A step behind the prompt has all that are left.
    assert "accepted of 4 foretold tokens at most: 3 in 1 step" in found
    words = (*FLOAT, "Hello", "--speculate", "4", "--draft-model", "model.onnx")
    assert right(*words).stdout == right(*FLOAT, "Hello").stdout


def test_a_text_ends_where_its_tokenizer_says():
    whole = right(*FLOAT, "Hello").stdout
    first = whole.removeprefix("Hello")[0]
    assert right(*FLOAT, "Hello", "--end", first).stdout == "Hello\n"
    refused("'zz' is no token of it", *FLOAT, "Hello", "--end", "zz")


def test_texts_that_cannot_go_on_are_refused():
    refused("--prompt '': is empty", *FUNCTIONAL, "")
    refused("--tokens", *FUNCTIONAL, "a", "--tokens", "0")
    refused("out of bounds", *FUNCTIONAL, "a", "--tokens", "70")
    refused("they are more than the 4082", *FUNCTIONAL, "a" * 4090)


def test_a_token_outside_of_the_vocabulary_is_refused():
    save_tokenizer(more=3)
    refused("token 1 is 65 by --tokenizer, which is not in 0..63", *FUNCTIONAL, "a?")
    Path("text.txt").write_text("Really!")
    for option, *more in (("--calibrate",), ("--draft-text", "--speculate", "2")):
        words = (option, "text.txt", *more)
        refused(f"{option} text.txt: token 6 is 64 by --tokenizer", *FUNCTIONAL, "Aha", *words)


def test_options_belong_to_one_model_or_the_other():
    refused("give its --tokenizer", "generate", "model.onnx", "--prompt", "a")
    refused("model.onnx is the model", *OWN, "--prompt", "a", "--model", "x")
    for option in ("--tokenizer", "--end", "--calibrate"):
        refused(f"{option}: is for a MODEL.onnx", "generate", "--prompt", "a", option, "x")


def test_files_that_are_no_models_or_tokenizers_are_refused():
    Path("t.json").write_text("{}")
    refused("not a tokenizer", *FLOAT, "a")
    save_tokenizer()
    Path("model.onnx").write_bytes(b"x")
    refused("not an ONNX file", *FLOAT, "a")
    Path("model.onnx").unlink()
    refused("No such file", *FLOAT, "a")


def test_a_model_whose_heads_do_not_divide_is_refused():
    model = onnx.ModelProto()
    model.CopyFrom(exported("llama"))
    for node in model.graph.node:
        for attribute in node.attribute:
            if node.name.endswith("attn/Constant_2") and attribute.t.raw_data:
                attribute.t.raw_data = (3).to_bytes(8, "little")
    save(model)
    refused("model.onnx: /model/layers.0/self_attn/", *FLOAT, "a")


def test_what_was_printed_stays_if_a_text_is_interrupted(monkeypatch):
    def interrupted(*_, **__):
        yield from (5, 6)
        raise KeyboardInterrupt

    before = sorted(os.listdir())
    monkeypatch.setattr(written_text, "generate", interrupted)
    result = invoke(*FUNCTIONAL, "Hello")
    assert result.exit_code == 130
    assert result.stdout.startswith("Helloef")
    assert sorted(os.listdir()) == before


def test_without_onnx_it_says_what_to_install(monkeypatch):
    def missing(module):
        raise ModuleNotFoundError(module, name="onnx")

    monkeypatch.setattr(extras, "import_module", missing)
    result = invoke(*FLOAT, "a")
    assert result.exit_code == 2
    assert "pip install -e '.[onnx]'" in result.stderr
