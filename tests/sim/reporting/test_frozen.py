"""What is told of a run is what was committed: words, tables, figures, traces, listings.

A change that is meant to show something else changes the files in ``frozen``, too, and its author
sees what a person will see; anything else that changes one was not meant.  The runs stand there as
``--json`` wrote them once.

python -m tests.sim.reporting.test_frozen    writes what the files have, but for the runs
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from copy import deepcopy
from hashlib import blake2b
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import typer

from celosia.isa.config import AcceleratorConfig
from celosia.sim.command.report_commands import compare_runs, explain_run, top
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.whatif import Change
from celosia.sim.reporting import explain
from celosia.sim.reporting.annotate import listing
from celosia.sim.reporting.compare import compare
from celosia.sim.reporting.page import compare_page, page
from celosia.sim.reporting.page.timeline_picture import timeline_drawing
from celosia.sim.reporting.trace import trace

FOLDER = Path(__file__).parent / "frozen"
PRODUCT, STUCK = FOLDER / "product.json", FOLDER / "stuck.json"
CHANGES = [
    Change("a latency of 6 cycles", 31, 370, at_most=True),
    Change("a bus of 32 bytes", 29, 356, measured=True, options=("--set", "bus_bits=256")),
]
"""What would help, in place of what plans for other hardware say, which takes a while."""
BOUND_BY_MEMORY = {"cycles": 4000, "mac_utilization": 0.1, "bound": "reads"}


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())


def several() -> dict[str, Any]:
    """A run of four operators that nobody has followed, in a slower memory; two are alike."""
    document = read(PRODUCT)
    (part,) = document["operators"]
    document["operators"] = [
        scaled(part, 1, "0.query"),
        scaled(part, 1, "1.query"),
        scaled(part, 3, "0.up", wait_load_bandwidth=500, array_padding=77, wait_issue=40),
        scaled(part, 2, "head", wait_load_latency=900, wait_fence=123, drain=15),
    ]
    document["memory"] |= {"latency": 40, "bytes_per_cycle": 4, "stall_percent": 0}
    counters = [each["counters"] for each in document["operators"]]
    document["counters"] = {name: sum(each[name] for each in counters) for name in counters[0]}
    for key in ("cycles", "macs", "dram_read_bytes", "dram_write_bytes", "predicted_cycles"):
        document[key] = sum(each[key] for each in document["operators"])
    return document | {"workload": "four", "profile": None, "limit": BOUND_BY_MEMORY}


def scaled(part: Mapping[str, Any], factor: int, name: str, **more: int) -> dict[str, Any]:
    """An operator of so many times the cycles, and more of some, which are the array's."""
    new = deepcopy({**part, "workload": name})
    for key in ("cycles", "macs", "dram_read_bytes", "dram_write_bytes", "predicted_cycles"):
        new[key] *= factor
    new["problem"]["m"] *= factor
    new["counters"] = {key: factor * count for key, count in part["counters"].items()}
    for key, count in more.items():
        new["counters"][key] += count
    new["cycles"] = new["counters"]["cycles"] = new["counters"]["cycles"] + sum(more.values())
    for end in ("read_none", "write_none", "vector_none"):
        new["counters"][end] += sum(more.values())
    return new


def printed(command: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """What `command` prints."""
    with redirect_stdout(StringIO()) as said:
        try:
            command(*arguments, **options)
        except typer.Exit as ended:
            print(f"exit code {ended.exit_code}")
    return said.getvalue()


def explained(folder: Path) -> str:
    path = folder / "four.json"
    path.write_text(json.dumps(several()))
    return "\n".join((
        printed(explain_run, str(PRODUCT), waits=3),
        printed(explain_run, str(STUCK), waits=0),
        printed(explain_run, str(path)),
    ))


def compared(folder: Path) -> str:
    path = folder / "four.json"
    path.write_text(json.dumps(several()))
    return (
        "\n"
        .join((
            printed(compare_runs, str(PRODUCT), str(path), threshold=10.0),
            printed(compare_runs, str(path), str(PRODUCT), threshold=10.0),
        ))
        .replace(f"{folder}/", "")
        .replace(f"{FOLDER}/", "")
    )


def hottest(_: Path) -> str:
    return printed(top, str(PRODUCT), count=7) + printed(top, str(STUCK), count=20)


def listed(_: Path) -> str:
    return "\n".join(listing(str(path)) for path in (PRODUCT, STUCK))


@contextmanager
def advised() -> Iterator[None]:
    """Advice for the run that was followed, and none for others."""

    def advice(document: Mapping[str, Any]) -> list[Change] | None:
        return CHANGES if document["profile"] else None

    with patch.object(explain, "what_if", advice):
        yield


@contextmanager
def parts_of_pages() -> Iterator[list[dict[str, Any]]]:
    """What pages are assembled of, without their style and scripts."""
    found: list[dict[str, Any]] = []

    def kept(**parts: Any) -> str:
        found.append(parts)
        return ""

    with patch.object(page, "assemble", kept), patch.object(compare_page, "assemble", kept):
        yield found


def paged(_: Path) -> str:
    with parts_of_pages() as found:
        for document in (read(PRODUCT), read(STUCK), several()):
            page.page(document)
        compare_page.compare_page(
            [("a.json", "matmul"), ("b.json", "four")], compare(read(PRODUCT), several())
        )
    return "\n".join(map(told_part, found))


def told_part(parts: Mapping[str, Any]) -> str:
    """The heading of a page, and digests of its sections and figures."""
    sections = [f"{name}, {short}: {digest(html)}" for name, short, html in parts["sections"]]
    figures = [
        f"{name}: {digest(json.dumps(figure, sort_keys=True))}"
        for name, figure in (*parts["data"]["figures"].items(), ("all", parts["data"]))
    ]
    return "\n".join((f"=== {parts['title']}", parts["lead"], *sections, *figures, ""))


def drawn(_: Path) -> str:
    """Traces and pictures, which nobody reads as text."""
    lines = []
    for path in (PRODUCT, STUCK):
        document = read(path)
        profile = Profile.from_document(document["profile"])
        made = trace(profile, AcceleratorConfig(**document["config"]))
        picture = str(timeline_drawing(profile))
        lines += [f"{path.stem} trace: {len(made)} bytes, {digest(made)}"]
        lines += [f"{path.stem} picture: {len(picture)} characters, {digest(picture)}"]
    return "\n".join((*lines, ""))


def digest(data: str | bytes) -> str:
    data = data.encode() if isinstance(data, str) else data
    return blake2b(data, digest_size=8).hexdigest()


TEXTS = {
    "explained.txt": explained,
    "compared.txt": compared,
    "hottest.txt": hottest,
    "listed.cel": listed,
    "page.txt": paged,
    "drawn.txt": drawn,
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_told_is_what_was_committed(name, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    with advised():
        assert TEXTS[name](tmp_path) == (FOLDER / name).read_text()


if __name__ == "__main__":
    from os import environ
    from tempfile import TemporaryDirectory

    environ["COLUMNS"] = "120"
    with TemporaryDirectory() as place, advised():
        for name, made in TEXTS.items():
            (FOLDER / name).write_text(made(Path(place)))
