"""The page of a search, on costs that are made up: fronts, points, and a browser like a phone."""

import json
import re
from types import SimpleNamespace

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.nas.machines.area import AreaModel, shipped_designs
from celosia.lab.nas.machines.machine_space import read_machines
from celosia.lab.nas.machines.together import compare
from celosia.lab.nas.models.candidates import Judge
from celosia.lab.nas.models.costs import SCENARIOS, Cost, Costs
from celosia.lab.nas.models.measured import Measured
from celosia.lab.nas.models.search import Found
from celosia.lab.nas.models.searches import run_searches
from celosia.lab.nas.models.space import Space
from celosia.lab.nas.pages.page import nas_page
from celosia.lab.nas.pages.races import races_of
from celosia.lab.prune.costs import Machine
from celosia.sim.export.silicon.energy.table import load_table
from celosia.sim.reporting.page.browser import page_source
from celosia.sim.support.progress import silent
from celosia.sim.verilator.doctor import absence

pytest.importorskip("plotly")

MISSING = absence("chromium")
SPACE = Space(depths=(1, 2), widths=(16,), heads=(2,), hidden=(16, 32), head_width=8)
BASE = Machine(PRESETS["base"], MemoryTiming())
TABLE = load_table(None)

# Tells whether a frame of the width of a phone has to be moved sideways, and what it shows once a
# point is clicked.
FRAME = """<!DOCTYPE html><iframe id="frame" width="390" height="844"></iframe><script>
const frame = document.getElementById("frame");
frame.srcdoc = %s;
frame.onload = () => {
  const inside = frame.contentWindow, page = frame.contentDocument;
  const figure = page.getElementById("figure-prefill");
  const line = figure.data.find((each) => each.name == "evolution");
  const shown = () => [...page.querySelectorAll(".behind")].filter((each) => each.offsetHeight);
  document.body.dataset.before = shown().length;
  const dots = [...figure.querySelectorAll(".points path")];
  document.body.dataset.dots = dots.filter((each) => each.getBoundingClientRect().width).length;
  figure.emit("plotly_click", { points: [{ customdata: line.customdata[0] }] });
  setInterval(() => {
    document.body.dataset.hash = inside.location.hash;
    document.body.dataset.shown = shown().map((each) => each.id).join();
    document.body.dataset.wide = page.documentElement.scrollWidth;
    document.body.dataset.drawn = page.body.dataset.drawn;
  }, 200);
};
</script>"""


class _Layers(dict):
    def __init__(self, cost):
        super().__init__()
        self.cost = cost

    def __missing__(self, key):
        return self.cost(key)


def costs(machine):
    """A layer takes a cycle and a byte for each channel, on an array of 32 half as many cycles."""

    def cost(number):
        return Cost(number * 16 / machine.config.dim, {"bus_read_byte": number, "mac": 0})

    return Costs(_Layers(lambda key: cost(key[2].hidden)), _Layers(lambda _: cost(64)))


def score(model):
    return {64: 20.0, 48: 20.05, 32: 20.8, 16: 40.0}[sum(each.hidden for each in model.layers)]


@pytest.fixture
def found():
    judge = Judge(costs(BASE), TABLE, score)
    searches = {name: run_searches(SPACE, judge, name, 12, 0, silent) for name in SCENARIOS}
    return Found(judge, judge(SPACE.largest), searches)


def page(found, comparisons=(), measured=None):
    races = races_of(found, comparisons, BASE)
    return nas_page(races, measured or {}, ["<said>"], "found", ("--space", "space.toml"))


def article(text, model):
    """The articles of the points of a model."""
    found = re.findall(r'<article class="behind" id="[^"]*">.*?</article>', text, re.DOTALL)
    return [each for each in found if f"<h3>{model}</h3>" in each]


def test_the_fronts_are_of_each_search_and_lead_to_their_points(found):
    text = page(found)
    data = json.loads(re.findall(r'id="report-data"[^>]*>(.*?)</script>', text, re.DOTALL)[0])
    assert set(data["figures"]) == set(SCENARIOS)
    drawn = {each["name"]: each for each in data["figures"]["step"]["data"]}
    evolution = drawn["evolution"]
    # The sum is 64 and a cycle for each channel: 20.0 has 64 of them, 40.0 has 16.
    assert evolution["x"] == [80, 96, 112, 128]
    assert evolution["y"] == [40.0, 20.8, 20.05, 20.0]
    for place in evolution["customdata"]:
        assert f'<article class="behind" id="{place[1:]}">' in text
    assert "&lt;said&gt;" in text


def test_a_point_says_whose_its_cycles_are_and_how_it_runs(found):
    prefill, step = article(page(found), "16: 2/16 2/32")[:1] + article(page(found), "16: 2/32")[:1]
    assert "<td>layer 0: 2 heads, 16 channels</td>" in prefill
    assert '<td class="number">32</td><td class="number">28.6 %</td>' in prefill
    assert '<td class="number">64</td><td class="number">57.1 %</td>' in prefill
    assert "20.05 (+0.25%)" in prefill
    wanted = "celosia nas --out found --space space.toml --run &#x27;16: 2/32&#x27;</pre>"
    assert wanted in step


def test_layers_that_are_alike_are_one_line_and_what_rtl_says_is_there(found):
    owners = {"rows": 75, "command": 25, "transform": 0}
    largest = found.largest.model
    measured = {
        largest: Measured(
            whole={"step": 130, "prefill": 131}, rtl={"step": 100}, owners={"step": owners}
        )
    }
    prefill, step = article(page(found, measured=measured), "16: 2/32 2/32")
    assert "<td>layers 0-1: 2 heads, 32 channels</td>" in step
    assert "<td>command</td>" in step
    assert '<td class="number">25.0 %</td>' in step
    assert "transform" not in step
    assert "The array" not in prefill


@pytest.fixture
def comparisons(found, tmp_path):
    path = tmp_path / "machines.toml"
    path.write_text("dim = [16, 32]\nscratchpad_kib = [64, 256]\nrates = [8]\n")
    space = read_machines(str(path), BASE.config, AreaModel(shipped_designs()))
    asked = SimpleNamespace(space=SPACE, seed=0, budget=40)
    return compare(
        asked,  # pyright: ignore[reportArgumentType]
        found,
        space,
        BASE,
        TABLE,
        8,
        lines=None,  # pyright: ignore[reportArgumentType]
        tell=silent,
        costs=costs,
    )


def test_a_machine_that_moves_is_in_the_command(found, comparisons):
    text = page(found, comparisons)
    both = [each for each in article(text, "16: 2/32") if "32x32" in each]
    assert both
    for each in both:
        assert "--mem-bytes-per-cycle 8 --set dim=32" in each
        # 64 and 32 channels, each half as long on twice the rows.
        assert '<td class="number">16</td><td class="number">33.3 %</td>' in each


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=str(MISSING))
def test_a_click_shows_a_point_on_a_phone(found, comparisons, tmp_path):
    frame = tmp_path / "frame.html"
    text = page(found, comparisons)
    frame.write_text(FRAME % json.dumps(text).replace("</", "<\\/"))
    source, errors = page_source(frame)
    assert errors == []
    said = dict(re.findall(r'data-(\w+)="([^"]*)"', source[: source.index("<iframe")]))
    assert said["before"] == "0"
    assert int(said["dots"]) > 4
    assert said["shown"] == said["hash"].removeprefix("#") == "prefill-1"
    assert int(said["wide"]) <= 390
    assert said["drawn"] == "4"
