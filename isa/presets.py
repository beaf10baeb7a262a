"""Named configurations, configuration files and overrides."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from celosia.isa.config import DATAFLOWS, AcceleratorConfig, ConfigError, did_you_mean
from celosia.isa.foreign_file import MIB, ForeignFileError, parse_toml, read_text

__all__ = ["PRESETS", "parse_override", "resolve_config"]

_BASE: Final = AcceleratorConfig(normalization=True)
_HALF: Final = {"vector_lanes": 8, "transform_queue": 4}
"""A normalization unit of half the lanes of a row, chosen from what is measured
(docs/silicon.md)."""
_GEMMINI: Final = AcceleratorConfig(dataflow="both", convolution=True, bert=True, loop_ws=True)
_BOOLEANS: Final = {"true": True, "false": False}
_MOST_BYTES: Final = MIB
"""A configuration file with each parameter once has less than a KiB."""

PRESETS: Final[Mapping[str, AcceleratorConfig]] = {
    "tiny": _BASE.with_values({
        "dim": 4,
        "scratchpad_kib": 16,
        "accumulator_kib": 8,
        "bus_bits": 32,
    }),
    "small": _BASE.with_values({
        "dim": 8,
        "scratchpad_kib": 64,
        "accumulator_kib": 32,
        "bus_bits": 64,
        "normalization": False,
    }),
    "base": _BASE.with_values(_HALF),
    "base-int4": _BASE.with_values({**_HALF, "int4_pairs": True}),
    "rebalanced": _BASE.with_values({"scratchpad_kib": 64, "accumulator_kib": 256}),
    "gemmini": _GEMMINI,
    "gemmini4": _GEMMINI.with_values({
        "dim": 4,
        "scratchpad_kib": 16,
        "accumulator_kib": 8,
        "bus_bits": 64,
    }),
}
"""`tiny` for tests, `small` for FPGAs (without the normalization unit), `base` and `rebalanced` for
the survey's case study; `base-int4` is `base` with a faster way into the array for int4 weights;
`gemmini` runs programs written for Gemmini's default configuration, and
`gemmini4` is the same with an array of 4x4."""


def resolve_config(source: str = "base", overrides: Iterable[str] = ()) -> AcceleratorConfig:
    """The configuration of a preset name or a TOML file, with ``key=value`` overrides on top.

    A TOML file holds the parameters at its top level, and may name a `preset` that it starts from.
    An array that is smaller than the lanes of a preset has a lane for each column, unless
    `vector_lanes` is overridden, too.

    Raises `ConfigError` that names the value, the rule and the place.
    """
    config = (
        _from_file(Path(source)) if source.endswith(".toml") else _from_preset(source, "preset")
    )
    values = dict(parse_override(text) for text in overrides)
    dim = values.get("dim")
    if isinstance(dim, int) and dim < config.vector_lanes:
        values = {"vector_lanes": 0, **values}
    return config.with_values(values)


def parse_override(text: str) -> tuple[str, int | bool | str]:
    """``"dim=8"`` as ``("dim", 8)``, ``"normalization=true"`` as ``("normalization", True)``.

    What is neither a number nor a truth value stays a word, which the parameter may refuse.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"override {text!r}: write it as key=value")
    if (word := value.strip().lower()) in _BOOLEANS:
        return key.strip(), _BOOLEANS[word]
    if word in DATAFLOWS:
        return key.strip(), word
    try:
        return key.strip(), int(value, 0)
    except ValueError:
        return key.strip(), value.strip()


def _from_preset(name: object, place: str) -> AcceleratorConfig:
    if not isinstance(name, str) or name not in PRESETS:
        raise ConfigError(
            f"{place}: there is no preset {name!r}; there are {', '.join(PRESETS)}, "
            f"or give a .toml file{did_you_mean(str(name), PRESETS)}"
        )
    return PRESETS[name]


def _from_file(path: Path) -> AcceleratorConfig:
    try:
        values = parse_toml(read_text(path, _MOST_BYTES))
    except ForeignFileError as error:
        raise ConfigError(str(error)) from None
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None
    base = _from_preset(values.pop("preset", "base"), f"{path}: preset")
    try:
        return base.with_values(values)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
