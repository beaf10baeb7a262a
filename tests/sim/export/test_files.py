"""All files of a design appear, or none."""

import os
from pathlib import Path

import pytest

from celosia.sim.export.choices import Memories
from celosia.sim.export.files import check_destinations, companions, stands_alone, write_files
from celosia.sim.support.problems import OutputError


@pytest.mark.parametrize(
    ("output", "stem"),
    [("a/b.v", "a/b"), ("b.sv", "b"), ("b.tiny.v", "b.tiny"), ("b", "b"), ("b.f", "b.f")],
)
def test_names(output, stem):
    listing, page = Path(f"{stem}.f"), Path(f"{stem}.md")
    assert companions(output, Memories.INFERRED) == {"listing": listing, "page": page}
    models = Path(f"{stem}_memories.v")
    assert companions(output, Memories.BLACKBOX)["models"] == models
    assert Path(output) not in {listing, page, models}


def test_what_stands_alone(tmp_path):
    assert stands_alone("-")
    assert stands_alone("/dev/null")
    assert not stands_alone(str(tmp_path / "new.v"))
    (tmp_path / "old.v").touch()
    assert not stands_alone(str(tmp_path / "old.v"))


def test_all_files_are_written(tmp_path):
    texts = {tmp_path / "a": "one\n", tmp_path / "b": "two\n"}
    write_files(texts)
    assert {path: path.read_text() for path in tmp_path.iterdir()} == texts


def test_nothing_is_written_when_one_file_cannot_be(tmp_path):
    (tmp_path / "a").write_text("before")
    with pytest.raises(OutputError, match="missing"):
        write_files({tmp_path / "a": "after", tmp_path / "missing" / "b": "after"})
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "before"


def test_nothing_is_written_on_a_full_disk(tmp_path):
    os.symlink("/dev/full", tmp_path / "b")
    (tmp_path / "a").write_text("before")
    with pytest.raises(OutputError, match=r"b: not written: No space left on device"):
        write_files({tmp_path / "a": "after", tmp_path / "b": "x" * 100_000})
    assert (tmp_path / "a").read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_destinations_are_checked_beforehand(tmp_path):
    output = str(tmp_path / "x.v")
    check_destinations(output, Memories.BLACKBOX)
    check_destinations("-", Memories.BLACKBOX)
    check_destinations("/dev/null", Memories.BLACKBOX)
    (tmp_path / "x_memories.v").mkdir()
    check_destinations(output, Memories.INFERRED)
    with pytest.raises(OutputError, match=r"x_memories\.v: is a directory"):
        check_destinations(output, Memories.BLACKBOX)
