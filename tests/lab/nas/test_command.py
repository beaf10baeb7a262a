"""`celosia nas`, from outside."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from celosia.lab.nas import command, work
from celosia.lab.nas.machines import together
from celosia.lab.nas.models import search
from celosia.lab.nas.models.costs import SCENARIOS, Cost, Costs
from celosia.lab.nas.models.space import Space, read_space
from celosia.lab.nas.models.supernet_file import save_supernet
from celosia.lab.nas.models.texts import Texts
from celosia.lab.nas.models.validate import scratch_line
from celosia.lab.nas.models.validate import trained as from_scratch
from celosia.lab.training.text.manual import ManualError
from celosia.sim.support.workers import Lane
from tests.support.command_line import refused, right
from tests.support.language import random_weights

pytestmark = pytest.mark.skipif(
    not (find_spec("jax") and find_spec("optax")), reason="not installed (extra `training`)"
)

TOKENS = np.random.default_rng(0).integers(0, 2048, 300).astype(np.uint16)
TEXTS = Texts(TOKENS, TOKENS, TOKENS, np.repeat(np.arange(2), [99, 200]).astype(np.int32))
LANES = (Lane(make=lambda: ThreadPoolExecutor(1)),)
SPACE = "depths = [1, 2]\nwidths = [16, 32]\nheads = [2]\nhidden = [16, 32]\nhead_width = 8\n"
NAS = ("nas", "--out", "found", "--space", "space.toml")


@pytest.fixture(autouse=True)
def quick(monkeypatch, tmp_path):
    """No documentation is read, nothing compiled and nothing trained."""
    monkeypatch.chdir(tmp_path)
    Path("space.toml").write_text(SPACE)
    monkeypatch.setattr(command, "read_texts", lambda _: TEXTS)
    monkeypatch.setattr(command, "lanes_of", lambda _: nullcontext(LANES))
    monkeypatch.setattr(search, "measured_costs", costs)
    monkeypatch.setattr(work, "costs_of", lambda pieces, *_: {p: Cost(2000, {}) for p in pieces})
    monkeypatch.setattr(search, "_trained", trained)


def costs(space: Space, *_):
    """Channels and width are cycles and bytes."""

    def cost(number):
        return Cost(number, {"mac": number, "bus_read_byte": number})

    places = [(scenario, width) for scenario in SCENARIOS for width in space.widths]
    layers = {(*p, layer): cost(100 + layer.hidden) for p in places for layer in space.layers}
    return Costs(layers, {place: cost(1000 + place[1]) for place in places})


def trained(asked, texts, folder, _tell):
    tensors = random_weights(asked.space.largest).tensors
    return save_supernet(folder / search.SUPERNET, asked.recipe, texts, tensors)


def test_the_first_line_says_whether_chance_does_as_well():
    """In 12 models all searches look at all of them."""
    found = right(*NAS, "--budget", "12")
    first, second, *_ = found.stdout.splitlines()
    assert first.startswith("prefill: evolution does not beat random search: 1.000 x of its gains")
    assert second.startswith("step: evolution does not beat random search")
    for text in ("uniform scaling", "parameter count", "step, EDP, +4.50%", "the largest"):
        assert text in found.stdout
    assert sorted(path.name for path in Path("found").iterdir()) == ["nas.jsonl", "supernet.npz"]
    again = right(*NAS, "--budget", "12")
    assert again.stdout == found.stdout


def test_the_machine_moves_too(monkeypatch):
    """Costs do not depend on the machine here, so both gain what the model does."""
    Path("machines.toml").write_text("dim = [16, 32]\nscratchpad_kib = [64]\nrates = [16]\n")
    monkeypatch.setattr(together, "costs_when_asked", lambda space, machine, **_: costs(space))
    words = (*NAS, "--budget", "12", "--machine", "machines.toml")
    found = right(*words).stdout
    text = " ".join(found.split())
    assert "prefill, 16 B/cycle, +0.45%: both gain 1.00 x of what the better of each" in text
    assert "2 machines of at most 5," in text
    assert "measured designs: mean error" in text
    assert right(*words, "--page", "page.html").stdout == found
    page = Path("page.html").read_text()
    assert "celosia nas --out found --space space.toml --run" in page
    assert "both gain 1.00 x of what the better of each" in page


def test_points_are_validated(monkeypatch):
    def learned(training):
        line = scratch_line(training.recipe, training.texts, None)
        lost = 1 + training.recipe.seed / 100 - training.recipe.shape.parameters / 1e7
        return {**line, "validation": 10 * lost, "sums": [-99 * lost, -200 * lost]}

    monkeypatch.setattr(work, "trained", lambda *given: from_scratch(*given, compute=learned))
    found = right(*NAS, "--budget", "12", "--validate").stdout
    assert "Kendall's tau over" in found
    # All weights are as good as their number: the ranks of the parameter count are right.
    assert "parameter count 1.00 (1.00 to 1.00)" in found
    assert "1.0000" in found


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("--budget", "--budget 0"),
        ("--steps", "--steps 0"),
        ("steps: 20 are not more than the 20 of warm-up", "--steps 20"),
        ("--executor nobody: write local:N", "--executor nobody"),
        ("nowhere.toml: No such file", "--space nowhere.toml"),
        ("nowhere.toml", "--table nowhere.toml"),
        ("no", "--set no=1"),
        ("nowhere/page.html: there is no directory", "--page nowhere/page.html"),
        ("--run '96': write WIDTH: HEADS/CHANNELS", "--run 96"),
        ("nowhere.toml: No such file", "--machine nowhere.toml"),
        ("--machines: only with --machine", "--machines 3"),
        ("--area: only with --machine", "--area area.json"),
        ("nowhere.json: No such file", "--machine space.toml --area nowhere.json"),
        ("normalization: False, but a design", "--machine space.toml --set normalization=false"),
        ("space.toml: depths: there are dim, ", "--machine space.toml"),
    ],
)
def test_what_cannot_be_is_refused(message, words):
    refused(message, *NAS, *words.split())


def test_a_space_without_a_legal_point_is_refused():
    Path("space.toml").write_text(SPACE.replace("[2]", "[1, 3]"))
    refused("space.toml: heads: of [1, 3] none is a multiple of the 2 together", *NAS)


def test_a_manual_that_is_not_there_is_said(monkeypatch):
    def missing(_):
        raise ManualError("no pages; apt-get install python3.11-doc")

    monkeypatch.setattr(command, "read_texts", missing)
    refused("apt-get install python3.11-doc", *NAS)


def test_a_supernet_of_something_else_is_refused_and_kept(monkeypatch):
    right(*NAS, "--budget", "4")
    path = Path("found") / search.SUPERNET
    before = path.read_bytes()
    refused("was trained with steps 1000, not 900", *NAS, "--budget", "4", "--steps", "900")
    Path("space.toml").write_text(SPACE.replace("[16, 32]\nheads", "[16, 24, 32]\nheads"))
    refused("is a supernet of the space", *NAS)
    Path("space.toml").write_text(SPACE)
    other = Texts(TOKENS[::-1], TOKENS, TOKENS, TEXTS.documents)
    monkeypatch.setattr(command, "read_texts", lambda _: other)
    refused(f"is a supernet of text {TEXTS.key}, not {other.key}", *NAS)
    path.write_bytes(b"nothing")
    refused("supernet.npz: not a supernet", *NAS)
    path.write_bytes(before)


def test_a_file_in_place_of_the_folder_is_refused():
    Path("found").write_text("a file")
    refused("found", *NAS)


def test_the_space_of_the_page_is_one():
    assert read_space("space.toml").largest.width == 32
