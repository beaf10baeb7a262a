"""What was recorded and simulated of a text, kept: a measurement that was ended goes on from there.

It is kept under all that it depends on, the sources of compiler and simulators among that.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from celosia.sim.export.silicon.power.measure import GroupWindow, Sample
from celosia.sim.support.cache import cached, digest, sound

__all__ = ["is_kept", "kept_samples", "kept_windows", "key_of"]

_SOURCES: Final = ("celosia.isa", "celosia.sw", "celosia.sim")
_PATTERNS: Final = ("*.py", "*.cpp", "*.h")


def key_of(parts: Iterable[str]) -> str:
    """The key of what depends on `parts` and on the sources."""
    return digest([_sources(), *parts])


def is_kept(key: str) -> bool:
    """Whether the samples of `key` are there."""
    return sound(_samples_place(key)) is not None


def kept_windows(key: str, make: Callable[[], Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
    """The windows START:STOP of `key`, which `make` chooses if they are not there.

    Raises what `make` raises, and `EnvironmentProblem` when the cache cannot be written.
    """

    def write(work: Path) -> Path:
        path = work / "windows.json"
        path.write_text(json.dumps(make()))
        return path

    found = json.loads(cached(f"power/{key}.windows.json", write).read_text())
    return [(int(start), int(stop)) for start, stop in found]


def kept_samples(key: str, make: Callable[[], Sequence[Sample]]) -> list[Sample]:
    """The samples of `key`, which `make` simulates if they are not there; raises as above."""

    def write(work: Path) -> Path:
        path = work / "samples.npz"
        np.savez_compressed(path, **_arrays(make()))
        return path

    with np.load(cached(_samples_place(key), write), allow_pickle=False) as arrays:
        return _samples(arrays)


def _samples_place(key: str) -> str:
    return f"power/{key}.npz"


def _arrays(samples: Sequence[Sample]) -> dict[str, Any]:
    """The events and energies of all samples, and the names of what they are of."""
    found: dict[str, Any] = {"wrong": np.array([json.dumps(x.wrong) for x in samples])}
    for number, sample in enumerate(samples):
        events, groups = sample.events, sample.groups
        found[f"events_{number}"] = np.stack([*events.values()])
        found[f"pj_{number}"] = np.stack([each.pj for each in groups.values()])
        found[f"gated_{number}"] = np.stack([each.gated_pj for each in groups.values()])
    found["events"], found["groups"] = (
        np.array([*samples[0].events]),
        np.array([*samples[0].groups]),
    )
    return found


def _samples(arrays: Any) -> list[Sample]:
    names, groups = arrays["events"].tolist(), arrays["groups"].tolist()
    found = []
    for number, wrong in enumerate(arrays["wrong"].tolist()):
        spent = zip(arrays[f"pj_{number}"], arrays[f"gated_{number}"], strict=True)
        found.append(
            Sample(
                dict(zip(names, arrays[f"events_{number}"], strict=True)),
                dict(zip(groups, (GroupWindow(*each) for each in spent), strict=True)),
                json.loads(wrong),
            )
        )
    return found


@cache
def _sources() -> str:
    """A name for all sources that a recording depends on, beside the design."""
    files: list[Path] = []
    for package in _SOURCES:
        (folder,) = import_module(package).__path__
        files += [path for pattern in _PATTERNS for path in Path(folder).rglob(pattern)]
    return digest([part for path in sorted(files) for part in (path.name, path.read_bytes())])
