"""The small language model, from outside."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from celosia.lab.training import language_commands, steps
from celosia.lab.training.text.manual import manual_documents
from celosia.sim.command.models import generate_command, written_text, written_texts
from celosia.sim.command.models.written_text import TextReport
from celosia.sim.command.models.written_texts import TextsReport
from celosia.sw.decoding.batch import Following
from celosia.sw.decoding.comparison import DifferenceError
from celosia.sw.decoding.drafts.ngram_file import NGRAMS, save_ngrams
from celosia.sw.decoding.drafts.ngrams import count_ngrams
from celosia.sw.decoding.session import SlotText
from celosia.sw.reference.language.calibration import CALIBRATION, save_calibration
from celosia.sw.reference.language.model_file import (
    TOKENIZER,
    WEIGHTS,
    save_weights,
    shipped_folder,
)
from tests.support.command_line import invoke, refused, right
from tests.support.language import UNLIKE, random_weights, small_shape

SHAPE = small_shape(layers=1, width=32, heads=2, key_heads=1, hidden=16, context=32)
ANY = ("generate", "--model", "model", "--tokens", "9")
GENERATE = (*ANY, "--sim", "float", "--prompt")
FUNCTIONAL = (*ANY, "--sim", "functional", "--preset", "tiny", "--prompt")


@pytest.fixture(autouse=True)
def model():
    """A folder with a model of random weights in the current folder."""
    folder = Path("model")
    folder.mkdir()
    save_weights(folder / WEIGHTS, SHAPE, random_weights(SHAPE).tensors, {})
    (folder / TOKENIZER).write_bytes((shipped_folder() / TOKENIZER).read_bytes())
    random = np.random.default_rng(1)
    windows = random.integers(0, SHAPE.vocabulary, (4, SHAPE.context)).tolist()
    save_calibration(folder, windows)
    return folder


def test_a_text_goes_on_the_same_way_for_the_same_seed():
    texts = [right(*GENERATE, "Return", "--seed", seed).stdout for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    assert all(text.startswith("Return") for text in texts)
    assert len(texts[0]) > len("Return\n")


def test_without_temperature_the_seed_does_not_matter():
    words = (*GENERATE, "Return", "--temperature", "0")
    assert right(*words, "--seed", "1").stdout == right(*words, "--seed", "2").stdout


def test_what_was_printed_stays_if_a_text_is_interrupted(monkeypatch):
    def interrupted(*_, **__):
        yield from (65, 66)
        raise KeyboardInterrupt

    monkeypatch.setattr(written_text, "generate", interrupted)
    result = invoke(*GENERATE, "Return", "--json", "out.json")
    assert result.exit_code == 130
    assert len(result.stdout) > len("Return")
    assert sorted(path.name for path in Path().iterdir()) == ["model"]


def test_each_line_of_a_file_goes_on_as_it_does_alone():
    lines = ["Return", "a", "list", "b", "c"]
    Path("p.txt").write_text("".join(f"{line}\n" for line in lines))
    words = (*FUNCTIONAL[:-1], "--temperature", "1", "--seed", "4")
    alone = []
    for line in lines[:2]:
        found = json.loads(right(*words, "--prompt", line, "--json", "-").stdout)
        alone.append((found["text"], found["tokens"]))
    result = right(*words, "--prompts", "p.txt", "--json", "out.json")
    found = json.loads(Path("out.json").read_text())
    assert found["schema"] == TextsReport.schema
    assert found["status"] == "right"
    assert [each["prompt"] for each in found["texts"]] == lines
    assert [(each["text"], each["tokens"]) for each in found["texts"][:2]] == alone
    printed = result.stdout
    for number, each in enumerate(found["texts"], 1):
        whole = f"{number}: {each['prompt']}{each['text']}\n"
        assert printed.startswith(whole)
        printed = printed[len(whole) :]
    assert "0 of " in printed
    taken = sum(step["tokens"] for step in found["steps"])
    assert taken == sum(len(e["prompt_tokens"]) + len(e["tokens"]) - 1 for e in found["texts"])


@pytest.mark.slow
def test_layers_need_not_be_alike(model):
    shape = replace(SHAPE, layers=UNLIKE.layers)
    save_weights(model / WEIGHTS, shape, random_weights(shape).tensors, {})
    words = (*FUNCTIONAL[:-1], "--tokens", "4", "--temperature", "0")
    plain = right(*words, "--prompt", "Return").stdout.splitlines()[0]
    drafted = right(*words, "--prompt", "Return", "--speculate", "3").stdout
    assert drafted.splitlines()[0] == plain
    Path("p.txt").write_text("Return\na\n")
    assert right(*words, "--prompts", "p.txt").stdout.startswith(f"1: {plain}\n2: a")


def test_float_texts_are_those_of_each_prompt():
    Path("p.txt").write_text("Return\nRaises\n")
    words = (*GENERATE[:-1], "--seed", "1")
    one, other = (right(*words, "--prompt", each).stdout for each in ("Return", "Raises"))
    assert right(*words, "--prompts", "p.txt").stdout == f"1: {one}2: {other}"


def test_texts_that_were_printed_stay_if_others_are_interrupted(monkeypatch):
    def interrupted(*_, **__):
        yield from (Following(0, 65), Following(1, 66), Following(0, None))
        raise KeyboardInterrupt

    monkeypatch.setattr(written_texts, "generate_texts", interrupted)
    Path("p.txt").write_text("Return\nRaises\n")
    result = invoke(*FUNCTIONAL[:-1], "--prompts", "p.txt", "--json", "out.json")
    assert result.exit_code == 130
    assert result.stdout.startswith("1: Return")
    assert "2: " not in result.stdout
    assert not Path("out.json").exists()


def test_prompts_that_cannot_be_are_refused():
    words = GENERATE[:-1]
    refused("--prompt: give it, or --prompts FILE", *words)
    Path("p.txt").write_text("Return\n\n")
    refused("p.txt, line 2 '': is empty", *words, "--prompts", "p.txt")
    Path("p.txt").write_text("Return\n" + " q" * 30)
    refused("of p.txt, line 2 they are more than the 32", *words, "--prompts", "p.txt")
    Path("p.txt").write_text("Return\n")
    refused("--speculate 3: is for one --prompt", *words, "--prompts", "p.txt", "--speculate", "3")


def test_texts_that_cannot_go_on_are_refused():
    refused("--prompt '': is empty", *GENERATE, "")
    refused("of --prompt they are more than the 32", *GENERATE, " q" * 30)
    refused("--tokens", *GENERATE, "a", "--tokens", "0")
    refused("temperature: -1.0 is not", *GENERATE, "a", "--temperature", "-1")
    refused("top_p: 2.0 is not", *GENERATE, "a", "--top-p", "2")
    refused("'chipyard' is not", *ANY, "--prompt", "a", "--sim", "chipyard")
    refused("no --preset", *GENERATE, "a", "--preset", "tiny")
    refused("no --profile", *GENERATE, "a", "--profile", "run.json")


def test_what_a_simulator_cannot_write_is_refused_before_integers_are_chosen(monkeypatch):
    monkeypatch.setattr(generate_command, "quantize_decoder", None)
    refused("--profile: functional has no clock", *FUNCTIONAL, "a", "--profile", "run.json")


def test_files_of_precisions_that_say_nothing_sensible_are_refused():
    Path("p.toml").write_text('int16 = ["/no"]\n')
    words = (*GENERATE, "a", "--precision")
    refused("--precision auto: is of run and build", *words, "auto")
    refused("--precision no.toml: No such file", *words, "no.toml")
    refused("--weights int4: --precision p.toml chooses", *words, "p.toml", "--weights", "int4")
    refused("--precision p.toml: --sim float computes with none", *words, "p.toml")
    refused("p.toml: int16: /no names no product", *FUNCTIONAL, "a", "--precision", "p.toml")


def test_an_accelerator_goes_on_with_a_text_and_says_what_it_compared():
    result = right(*FUNCTIONAL, "Return", "--temperature", "0")
    assert result.stdout.startswith("Return")
    assert "elements in memory differ from the integer graph" in result.stdout
    assert right(*FUNCTIONAL, "Return", "--temperature", "0").stdout == result.stdout


def test_drafts_leave_the_text_as_it_is_and_say_what_was_right():
    words = (*FUNCTIONAL, "Return the file", "--temperature", "0")
    plain = right(*words).stdout.splitlines()[0]
    found = right(*words, "--speculate", "3").stdout
    assert found.splitlines()[0] == plain
    assert "accepted of 3 foretold tokens at most: " in found
    assert "note: only the text so far foretells tokens" in found


def test_drafts_that_cannot_be_are_refused(model):
    for most in ("0", "16", "-1", "x"):
        refused("--speculate", *GENERATE, "a", "--speculate", most)
    refused("--draft-text x: is for --speculate K", *GENERATE, "a", "--draft-text", "x")
    words = (*GENERATE, "a", "--speculate", "2")
    refused("--draft-text nowhere.txt: No such file", *words, "--draft-text", "nowhere.txt")
    Path("empty.txt").write_text("")
    refused("--draft-text empty.txt: has no text", *words, "--draft-text", "empty.txt")
    save_ngrams(model / NGRAMS, count_ngrams([SHAPE.vocabulary] * 3))
    refused(f"token {SHAPE.vocabulary} is not in 0..", *words)


def test_the_report_has_each_step():
    words = (*FUNCTIONAL, "Return the file", "--temperature", "0", "--speculate", "3")
    result = right(*words, "--json", "-")
    found = json.loads(result.stdout)
    assert found["schema"] == TextReport.schema
    assert (found["status"], found["speculate"], found["drafts"]) == ("right", 3, ["lookup"])
    assert result.stderr.startswith(found["prompt"] + found["text"])
    assert found["elements_checked"] > 0
    first, *steps = found["steps"]
    assert (first["prompt"], first["context"]) == (True, 0)
    assert first["kept"] == first["tokens"] == len(found["prompt_tokens"])
    for before, step in zip([first, *steps], steps, strict=False):
        assert step["context"] == before["context"] + before["kept"]
        assert 1 <= step["kept"] <= step["tokens"] <= step["rows"] <= 4
        assert step["cycles"] is None
    right(*GENERATE, "Return", "--speculate", "3", "--json", "out.json")
    assert json.loads(Path("out.json").read_text())["status"] == "unchecked"
    refused("no directory", *words, "--json", "nowhere/out.json")


@pytest.mark.slow
def test_rtl_says_what_tokens_cost():
    words = (*ANY, "--prompt", "Return", "--tokens", "2", "--preset", "tiny")
    table = right(*words, "--mem-bytes-per-cycle", "8").stdout
    assert "8 bytes per cycle" in table
    assert len([line for line in table.splitlines() if line.count("│") > 2]) == 2


def test_accelerators_that_cannot_do_it_are_refused(model):
    refused(
        "needs a normalization unit",
        *ANY,
        "--preset",
        "small",
        "--sim",
        "functional",
        "--prompt",
        "a",
    )
    (model / CALIBRATION).write_text("[[1.5]]")
    refused("window 0: 1.5 is not a token", *FUNCTIONAL, "a")
    (model / CALIBRATION).unlink()
    refused("No such file", *FUNCTIONAL, "a")


def test_a_wrong_accelerator_ends_the_text(monkeypatch):
    def differs(*_):
        raise DifferenceError("logits: 1 of 3")

    monkeypatch.setattr(SlotText, "append", differs)
    result = invoke(*FUNCTIONAL, "Return", "--json", "out.json")
    assert result.exit_code == 1
    assert json.loads(Path("out.json").read_text())["status"] == "wrong"
    assert result.stdout.startswith("Return")
    assert "logits: 1 of 3" in result.stderr


def test_models_that_cannot_be_read_are_refused(model):
    refused("No such file", *GENERATE[:1], "--prompt", "a", "--model", "nowhere")
    (model / WEIGHTS).write_bytes(b"x" * 100)
    refused("not a safetensors file", *GENERATE, "a")
    refused("not a safetensors file", "language", "perplexity", "--model", "model")


def test_a_model_whose_heads_do_not_divide_is_refused(model):
    content = (model / WEIGHTS).read_bytes()
    for name, before, after, problem in (
        ("heads", 2, 3, "heads: 3 do not divide a width of 32"),
        ("key_heads", 1, 4, "key_heads: 4 do not divide 2 heads"),
    ):
        old, new = (f'{name}\\": {value}'.encode() for value in (before, after))
        assert content.count(old) == 1
        (model / WEIGHTS).write_bytes(content.replace(old, new))
        refused(problem, *GENERATE, "a")
        refused(problem, *FUNCTIONAL, "a")


def test_training_needs_its_extra_and_enough_steps(monkeypatch):
    monkeypatch.setattr(steps, "EXTRA", ("jax_that_is_not_there",))
    refused("pip install -e '.[training]'", "language", "train", "--out", "out")
    monkeypatch.setattr(steps, "EXTRA", ())
    refused("steps: 3 are not more than", "language", "train", "--out", "out", "--steps", "3")
    refused("'novels' is not one of", "language", "train", "--out", "out", "--corpus", "novels")


def test_a_corpus_that_is_not_installed_is_refused_in_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(steps, "EXTRA", ())
    monkeypatch.setattr(language_commands, "import_module", lambda _: None)  # It needs JAX.
    monkeypatch.setattr(
        language_commands, "corpus_texts", lambda _: list(manual_documents(tmp_path))
    )
    words = ("language", "train", "--out", "out", "--corpus", "manual")
    refused("has no .rst.txt files; install Debian's package python3.11-doc", *words)


def test_models_that_come_with_the_project_have_names():
    words = ("generate", "--sim", "float", "--tokens", "9", "--prompt", "Return the", "--model")
    small = right(*words, "small").stdout
    assert small == right(*words[:-1]).stdout
    assert small != right(*words, "docs").stdout
    Path("docs").mkdir()
    refused("No such file", *words, "./docs")


@pytest.mark.slow
def test_perplexity_stands_beside_that_of_3_grams():
    table = right(
        "language", "perplexity", "--model", "model", "--integers", "--rtl-tokens", "40"
    ).stdout
    rows = [line.split("│") for line in table.splitlines() if line.count("│") > 2]
    values = [float(row[2].replace(",", "")) for row in rows]
    assert 60 < values[0] < 80  # The documentation of other versions is not quite the same.
    assert len(values) == 9
    assert np.isfinite(values).all()
    assert "not the one that the model was trained on" in " ".join(table.split())
