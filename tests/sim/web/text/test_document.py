"""Texts of the page are those of the command line, and so are their cycles, and what memory has."""

import json
from contextlib import closing

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.web.text.written import EXAMPLE, Asked, write
from celosia.sw.decoding.session import DecoderSession
from celosia.sw.decoding.steps import session_bytes
from celosia.sw.reference.language.sampling import Sampler
from tests.support.command_line import right
from tests.support.text_node import BASE, shipped, shipped_part, texts_on_node
from tests.support.wasm_node import needs_node, needs_zig

pytestmark = [needs_node, needs_zig, pytest.mark.nightly]

GREEDY = Sampler()
DRAWN = Sampler(temperature=0.7, top_p=0.9, seed=1)
TEXTS = [
    Asked(prompt="Return the", tokens=8, sampler=GREEDY),
    Asked(prompt="Return the", tokens=8, sampler=DRAWN),
    Asked(
        prompt="If the argument is a string, then it is not a list of the modules, and there is ",
        tokens=8,
        sampler=Sampler(temperature=1.3, top_p=1, seed=2**64 - 1),
    ),
    Asked(prompt="na\u00efve \u65e5\u672c\u8a9e", tokens=8, sampler=Sampler(temperature=1, seed=5)),
    Asked(prompt="Open a file. " * 20, tokens=8, sampler=GREEDY),
    Asked(prompt="Return the", tokens=24, sampler=GREEDY, drafted=7),
    Asked(prompt="Return the", tokens=12, sampler=DRAWN, drafted=15),
]


def written_natively(asked):
    source = shipped()
    size = session_bytes(source.decoder, source.context)
    with closing(VerilatorDevice(BASE, MemoryTiming(), size)) as device:
        return write(source, DecoderSession(device, source.decoder, source.context), asked)


def test_tokens_cycles_and_memory_are_those_of_the_native_simulator(tmp_path):
    found = texts_on_node(BASE, shipped_part(), TEXTS, tmp_path)
    for asked, each in zip(TEXTS, found, strict=True):
        expected = written_natively(asked)
        assert each["text"] == expected.text
        assert each["tokens"] == list(expected.tokens)
        assert each["cycles"] == [step.cycles for step in expected.steps]
        assert each["bytes"] == [step.bytes for step in expected.steps]
        assert each["digest"] == expected.digest


def test_the_document_says_how_many_bytes_there_are():
    part = shipped_part()
    assert part.document["bytes"] == len(part.data)


@pytest.mark.parametrize("asked", [TEXTS[0], TEXTS[1]], ids=["greedy", "drawn"])
def test_the_command_line_writes_the_same(asked, tmp_path):
    """With room for as many tokens as the page has, so that programs are the same, too."""
    room = shipped().context - len(shipped().tokenizer.encode(asked.prompt))
    report = tmp_path / "report.json"
    sampler = asked.sampler
    right(
        *("generate", "--prompt", asked.prompt, "--tokens", str(room), "--check", "none"),
        *("--temperature", str(sampler.temperature), "--top-p", str(sampler.top_p)),
        *("--seed", str(sampler.seed), "--json", str(report)),
    )
    expected = json.loads(report.read_text())
    (found,) = texts_on_node(BASE, shipped_part(), [asked], tmp_path)
    assert expected["text"].startswith(found["text"])
    assert expected["tokens"][: len(found["tokens"])] == found["tokens"]
    cycles = [step["cycles"] for step in expected["steps"]]
    assert cycles[: len(found["cycles"])] == found["cycles"]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"prompt": ""}, "The prompt is empty; write at least one letter."),
        ({"prompt": " \n"}, "The prompt is empty; write at least one letter."),
        (
            {"prompt": "of " * 300},
            "tokens: 8 with the 301 of the prompt are more than the 256 of the model's context.",
        ),
        (
            {"prompt": "a" * 10**6},
            " or more of the prompt are more than the 256 of the model's context.",
        ),
        ({"prompt": "half \ud83d"}, "The prompt has half a character (U+D83D), which no text has."),
        ({"tokens": 0}, "tokens: 0 is not a whole number from 1 on."),
        ({"tokens": 1.5}, "tokens: 1.5 is not a whole number from 1 on."),
        ({"tokens": 255}, "tokens: 255 with the 2 of the prompt are more than the 256 of"),
        ({"drafted": 16}, "drafts: 16 is not in 0..15."),
        ({"temperature": -0.5}, "temperature: -0.5 is not a finite number from 0 on"),
    ],
)
def test_what_cannot_be_written_is_a_sentence(changed, sentence, tmp_path):
    asked = {**TEXTS[0].document(), **changed}
    (found,) = texts_on_node(BASE, shipped_part(), [asked], tmp_path)
    assert sentence in found["error"]


def test_the_example_was_compared():
    """What a page begins with is no text of a device that computes something else."""
    example = shipped_part().document["example"]
    assert example["asked"] == EXAMPLE.document()
    assert example["written"]["tokens"]
