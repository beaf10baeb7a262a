"""Which accelerators a library has: each under the name of its own."""

from pathlib import Path

import pytest

from celosia.isa.presets import PRESETS, resolve_config
from celosia.sim.c_host.build import choose_presets
from celosia.sim.support.problems import InputError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder, kib in (("a", 32), ("b", 64)):
        Path(folder).mkdir()
        text = f'preset = "tiny"\nscratchpad_kib = {kib}\n'
        for name in ("mine", "tiny"):
            Path(folder, f"{name}.toml").write_text(text)


def test_presets_and_files_have_the_names_that_programs_give():
    found = choose_presets("base,a/mine.toml")
    assert found == {"base": PRESETS["base"], "mine": resolve_config("a/mine.toml")}
    assert list(found) == ["base", "mine"]
    assert found["mine"].scratchpad_kib == 32


@pytest.mark.parametrize(
    ("names", "twice"),
    [
        ("tiny,tiny", "tiny"),
        ("a/mine.toml,b/mine.toml", "mine"),
        ("tiny,a/tiny.toml", "tiny"),
        ("base,a/mine.toml,small,b/mine.toml", "mine"),
    ],
)
def test_a_name_is_there_once(names, twice):
    """Also that of files in other folders: the library would have the last one only."""
    with pytest.raises(InputError, match=rf"^--presets: {twice} is there twice$"):
        choose_presets(names)
