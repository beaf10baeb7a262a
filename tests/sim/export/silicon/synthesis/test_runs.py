"""Scripts that begin alike begin once, and each makes what it makes alone."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from celosia.sim.export.silicon.synthesis.runs import READ_MODULE, ModuleScript
from celosia.sim.export.silicon.synthesis.yosys import find_yosys
from celosia.sim.support.cache import CACHE_VARIABLE, cache_directory
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import silent
from tests.sim.export.silicon.synthesis.test_mapping import DESIGN
from tests.sim.export.silicon.synthesis.test_modules import TEXT
from tests.support.cells import fake_yosys

NAMES = ("top_of_all", "top.a", "top.b")
"""Modules of `TEXT`; the last two are alike."""
ANSWER = """\
import json, pathlib, re, sys
script = pathlib.Path("script.ys").read_text()
with pathlib.Path({log!r}).open("a") as log:
    log.write(json.dumps(script) + "\\n")
for product in re.findall("write (.*)", script):
    pathlib.Path(product).write_text("made " + product)
"""


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


def script(folder: Path, *products: str) -> ModuleScript:
    """Makes `products` with a stand-in for Yosys, which appends its script to the file `log`."""
    yosys = fake_yosys(folder, ANSWER.format(log=str(folder / "log")))
    ends = {each: f"write {each}\n" for each in products}
    return ModuleScript(yosys, "begin\n", ends, {}, str.upper, 1)


def scripts(folder: Path) -> list[str]:
    """What the stand-in was told, one after the other."""
    return [json.loads(line) for line in (folder / "log").read_text().splitlines()]


def test_a_module_begins_once_for_all_products(tmp_path):
    modules, kept = script(tmp_path, "a.v", "b.v").run(TEXT, "", silent)
    assert tuple(modules) == NAMES
    assert kept == {
        "a.v": dict.fromkeys(NAMES, "MADE A.V"),
        "b.v": dict.fromkeys(NAMES, "MADE B.V"),
    }
    both = "begin\ndesign -save begun\nwrite a.v\ndesign -load begun\nwrite b.v\n"
    assert scripts(tmp_path) == [both, both]


def test_what_one_script_has_made_another_does_not_make(tmp_path):
    script(tmp_path, "a.v").run(TEXT, "", silent)
    assert scripts(tmp_path) == ["begin\nwrite a.v\n"] * 2
    _, kept = script(tmp_path, "a.v", "b.v", "c.v").run(TEXT, "", silent)
    assert kept["a.v"] == dict.fromkeys(NAMES, "MADE A.V")
    left = "begin\ndesign -save begun\nwrite b.v\ndesign -load begun\nwrite c.v\n"
    assert scripts(tmp_path)[2:] == [left, left]
    script(tmp_path, "c.v", "a.v").run(TEXT, "", silent)
    assert len(scripts(tmp_path)) == 4


def test_another_beginning_makes_all_anew(tmp_path):
    script(tmp_path, "a.v").run(TEXT, "", silent)
    replace(script(tmp_path, "a.v"), begin="start\n").run(TEXT, "", silent)
    assert scripts(tmp_path)[2:] == ["start\nwrite a.v\n"] * 2


def test_a_product_that_is_missing_is_said(tmp_path):
    lost = script(tmp_path, "a.v", "b.v")
    lost = replace(lost, ends={**lost.ends, "b.v": "nothing\n"})
    with pytest.raises(EnvironmentProblem, match="top_of_all: Yosys ended without saying what it"):
        lost.run(TEXT, "", silent)
    assert [each.read_text() for each in cache_directory().rglob("*.v")] == ["MADE A.V"]


@pytest.mark.skipif(shutil.which("yosys") is None, reason="yosys is not there")
def test_a_product_beside_another_is_the_one_alone(tmp_path, monkeypatch):
    """The first one changes the module; the second does not see that."""
    ends = {
        "mapped.v": "techmap\nabc\nopt_clean -purge\nwrite_verilog -noattr mapped.v\n",
        "words.v": "opt_clean\nwrite_verilog -noattr words.v\n",
    }
    both = ModuleScript(find_yosys("yosys"), READ_MODULE, ends, {}, str, 1)
    _, together = both.run(DESIGN, "", silent)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "another"))
    for product, end in ends.items():
        _, alone = replace(both, ends={product: end}).run(DESIGN, "", silent)
        assert alone[product] == together[product]
    assert "$_" not in together["words.v"]
