"""A file that describes a space, and the points of it."""

import itertools
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from celosia.isa.config import ConfigError
from celosia.isa.foreign_file import MIB, parse_toml
from celosia.lab.sweep.point import MODEL, Point, point_key
from celosia.lab.sweep.words import FLAGS, Models, carried, options_of
from celosia.sim.command.options.common import Simulator
from celosia.sim.support.cache import digest
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError

__all__ = ["MOST_POINTS", "read_space"]

MOST_POINTS: Final = 1_000_000
_SIMULATORS: Final = (MODEL, *(each.value for each in Simulator if each != Simulator.FUNCTIONAL))
_SET: Final = "set"

Choice = dict[str, Any]


def read_space(path: str) -> list[Point]:
    """The points of the space in a file, each once, workload by workload, in the file's order.

    Raises `InputError` that names the place for what is no space, and where no point is legal.
    """
    text = read_text(path, MIB)
    try:
        content = parse_toml(text)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    for name in content:
        if name not in ("space", "workload"):
            raise InputError(f"{path}: {name}: there are [space] and [[workload]]")
    workloads = [
        _workload(entry, f"{path}: workload {number}")
        for number, entry in enumerate(_tables(content, path), 1)
    ]
    axes = _axes(content.get("space", {}), f"{path}: space")
    if (count := len(workloads) * _product(map(len, axes.values()))) > MOST_POINTS:
        raise InputError(f"{path}: {count:,} points, more than {MOST_POINTS:,}")
    points: dict[str, Point] = {}
    models: Models = {}
    for run, sim in workloads:
        for values in itertools.product(*axes.values()):
            point = _point(run, sim, dict(zip(axes, values, strict=True)), models)
            points.setdefault(point.key, point)
    if all(point.refused for point in points.values()):
        first = next(iter(points.values()))
        raise InputError(f"{path}: no point is legal; the first: {first.refused}")
    return list(points.values())


def _product(sizes: Iterator[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


def _tables(content: Mapping[str, Any], path: str) -> Sequence[Any]:
    tables = content.get("workload", [])
    if not isinstance(tables, list) or not tables:
        raise InputError(f"{path}: there is no [[workload]]")
    return tables


def _workload(entry: object, place: str) -> tuple[str, str]:
    """The command line of a workload, and what measures it."""
    if not isinstance(entry, dict):
        raise InputError(f"{place}: {entry!r} is no table")
    for name in entry:
        if name not in ("run", "sim"):
            raise InputError(f"{place}: {name}: there are run and sim")
    run, sim = entry.get("run"), entry.get("sim", MODEL)
    if not isinstance(run, str) or not run.strip():
        raise InputError(f'{place}: run: {run!r} is no workload, as in "matmul --shape 64x64x64"')
    if sim not in _SIMULATORS:
        raise InputError(f"{place}: sim: {sim!r}; there are {', '.join(_SIMULATORS)}")
    _check_workload(run, f"{place}: run")
    return run, sim


def _check_workload(run: str, place: str) -> None:
    """Raise `InputError` for words that are no workload, whatever the configuration is."""
    try:
        options_of(shlex.split(run))
    except ValueError as error:
        raise InputError(f"{place}: {error}") from None


def _axes(space: object, place: str) -> dict[str, list[Any]]:
    """The values of each option; those of parameters are called ``set.NAME``."""
    if not isinstance(space, dict):
        raise InputError(f"{place}: {space!r} is no table")
    axes: dict[str, list[Any]] = {}
    for name, values in space.items():
        if name == _SET and isinstance(values, dict):
            for key, each in values.items():
                axes[f"{_SET}.{key}"] = _values(each, f"{place}: {_SET}.{key}")
        elif name in FLAGS:
            axes[name] = _values(values, f"{place}: {name}")
        else:
            raise InputError(f"{place}: {name}: there are {', '.join(sorted(FLAGS))} and set.NAME")
    return axes


def _values(values: object, place: str) -> list[Any]:
    if not isinstance(values, list) or not values:
        raise InputError(f"{place}: {values!r} is no list of values")
    for value in values:
        if not isinstance(value, str | int | bool):
            raise InputError(f"{place}: {value!r} is neither text, a number nor true or false")
    return values


def _point(run: str, sim: str, choices: Choice, models: Models) -> Point:
    """The point of these choices; refused if a rule says so."""
    try:
        options, config = options_of([*shlex.split(run), *_words(choices)])
        options = carried(options, models)
    except (ConfigError, InputError) as error:
        key = digest([run, sim, repr(choices)])
        return Point(run=run, sim=sim, choices=choices, key=key, refused=str(error))
    key = point_key(f"{options.workload} {options.details}", sim, config, options.target.timing)
    return Point(run=run, sim=sim, choices=choices, key=key, config=config, options=options)


def _words(choices: Choice) -> Iterator[str]:
    """The choices as words of a command line."""
    for name, value in choices.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if name.startswith(f"{_SET}."):
            yield f"--set={name.removeprefix(f'{_SET}.')}={text}"
        else:
            yield f"{FLAGS[name]}={text}"
