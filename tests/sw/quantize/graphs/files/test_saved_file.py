"""A plan that somebody else wrote, with a digest that is right, runs or is refused."""

import json
import random
import tracemalloc
from hashlib import blake2b
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest

from celosia.sw.frontend.nn.operators.operator import GraphError
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.files.model_file import Calibrated, load_model, save_model
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError
from celosia.sw.quantize.graphs.quantized import run_model
from tests.support.quantized_exports import inputs, recognized

OTHERS = (None, 3, "x", [], {}, [[1]], {"a": 1}, 10**30)


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "model.plan"
    graph = recognized("bert-17")
    formats = calibrate(lambda _: graph, [inputs("bert-17", seed) for seed in range(1, 3)])
    with path.open("wb") as file:
        save_model(Calibrated(graphs=(graph,), formats=formats), {}, file)
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != "digest"}


def digest(members):
    state = blake2b(digest_size=16)
    for name in sorted(members):
        for part in (name.encode(), members[name]):
            state.update(len(part).to_bytes(8, "little"))
            state.update(part)
    return state.hexdigest().encode()


def written(path, members, compression=ZIP_STORED):
    with ZipFile(path, "w", compression) as archive:
        for name, data in (members | {"digest": digest(members)}).items():
            archive.writestr(name, data)
    return path


def edited(document, place, value):
    """The document with another value at a place, as bytes."""
    found = json.loads(json.dumps(document))
    part = found
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return json.dumps(found).encode()


def places(document):
    yield from ((key,) for key in document if key not in {"format", "setting"})
    yield from (("formats", key) for key in document["formats"])
    yield from (("formats", "forms", 0, at) for at in range(5))
    product, curve = (next(iter(document["formats"][key])) for key in ("products", "curves"))
    yield from (("formats", "products", product, at) for at in range(3))
    yield from (("formats", "curves", curve, at) for at in range(2))
    yield from (("graphs", 0, key) for key in document["graphs"][0])
    for number, node in enumerate(document["graphs"][0]["nodes"][:12]):
        yield from (("graphs", 0, "nodes", number, key) for key in node)
        yield from (("graphs", 0, "nodes", number, "attributes", key) for key in node["attributes"])
    for name in list(document["graphs"][0]["constants"])[:9]:
        yield "graphs", 0, "constants", name


# All of them at night; of each place, one that is drawn.
@pytest.mark.parametrize("count", [1, pytest.param(len(OTHERS), marks=pytest.mark.nightly)])
def test_other_values_at_every_place_run_or_are_refused(members, tmp_path, count):
    document, refused, draw = json.loads(members["plan.json"]), 0, random.Random(1)
    for place in places(document):
        for value in draw.sample(OTHERS, count):
            changed = members | {"plan.json": edited(document, place, value)}
            path = written(tmp_path / "m.plan", changed)
            try:
                (model,) = load_model(path).models
            except PlanFileError:
                refused += 1
                continue
            try:
                run_model(model, inputs("bert-17", 0))
            except GraphError:
                continue
    assert refused > 600 * count / len(OTHERS)


def npy(shape):
    header = str({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    header += b" " * (64 - (len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header


@pytest.mark.parametrize("shape", [(10**12,), (3, 5), (1 << 62, 1 << 62), (-1, 4)])
def test_arrays_that_are_not_what_is_said_are_refused(shape, members, tmp_path):
    name = next(name for name in members if name.startswith("arrays/"))
    path = written(tmp_path / "m.plan", members | {name: npy(shape)})
    with pytest.raises(PlanFileError, match=r"m\.plan: is no whole plan"):
        load_model(path)


def test_objects_are_not_read(members, tmp_path):
    np.save(tmp_path / "o.npy", np.array([{}], object), allow_pickle=True)
    name = next(name for name in members if name.startswith("arrays/"))
    path = written(tmp_path / "m.plan", members | {name: (tmp_path / "o.npy").read_bytes()})
    with pytest.raises(PlanFileError, match="Object arrays cannot be loaded"):
        load_model(path)


def test_names_with_dots_write_nothing(members, tmp_path):
    folder = tmp_path / "in" / "side"
    folder.mkdir(parents=True)
    load_model(written(folder / "m.plan", members | {"../../evil": b"x"}))
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["in", "m.plan", "side"]


def test_text_that_is_too_deep_is_refused(members, tmp_path):
    path = written(tmp_path / "m.plan", members | {"plan.json": b"[" * 100_000})
    with pytest.raises(PlanFileError, match="is no whole plan: it is nested too deeply"):
        load_model(path)


def refused_for_little(path, message):
    """A file is refused, and the memory that this took is a small part of what it has."""
    tracemalloc.start()
    with pytest.raises(PlanFileError, match=message):
        load_model(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 23


def test_a_small_file_that_unpacks_to_a_large_one_is_refused_as_it_is(members, tmp_path):
    path = written(tmp_path / "m.plan", members | {"large": bytes(1 << 28)}, ZIP_DEFLATED)
    most = 64 * path.stat().st_size
    assert most < 1 << 28
    refused_for_little(path, rf"m\.plan: .*bytes, more than the {most:,} that are permitted")


def test_the_digest_is_looked_at_before_anything_is_in_memory(members, tmp_path):
    path = tmp_path / "m.plan"
    with ZipFile(path, "w") as archive:
        for name, content in (members | {"large": bytes(1 << 25), "digest": b"another"}).items():
            archive.writestr(name, content)
    refused_for_little(path, "its digest is another one")


def test_what_is_more_than_memory_unpacked_is_refused(members, tmp_path, monkeypatch):
    path = written(tmp_path / "m.plan", members | {"large": bytes(1 << 22)})
    monkeypatch.setattr("os.sysconf", lambda name: 1 << 11)
    with pytest.raises(PlanFileError, match="more than this machine's memory of 4,194,304"):
        load_model(path)
