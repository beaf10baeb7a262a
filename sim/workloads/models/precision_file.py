"""The file of `--precision`: which products of a model have which weights and operands."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from celosia.isa.config import did_you_mean
from celosia.isa.foreign_file import MIB, ForeignFileError, parse_toml, read_text
from celosia.sim.support.problems import InputError
from celosia.sw.quantize.precision import Numbers

__all__ = ["PrecisionFile", "read_precision"]

_KINDS: Final = {kind.name.lower(): kind for kind in Numbers}


@dataclass(frozen=True)
class PrecisionFile:
    """Names of products, or patterns of a shell, by what they multiply; others have int8."""

    path: Path
    names: Mapping[str, tuple[str, ...]]

    def kinds(self, products: Collection[str], wide: Collection[str]) -> dict[str, Numbers]:
        """What each of these products multiplies, by its name.

        Raises `InputError` for what names no product, for a product that is named twice, and for
        one in int16 that is none of those that may be `wide`.
        """
        found: dict[str, tuple[str, str]] = {}
        for kind, patterns in self.names.items():
            for pattern in patterns:
                named = [name for name in products if name == pattern or fnmatchcase(name, pattern)]
                if not named:
                    near = did_you_mean(pattern, products)
                    raise InputError(f"{self.path}: {kind}: {pattern} names no product{near}")
                for name in named:
                    if name in found:
                        both = " and ".join(map(" ".join, (found[name], (kind, pattern))))
                        raise InputError(f"{self.path}: {name} is named twice: by {both}")
                    found[name] = kind, pattern
        for name, (kind, _) in found.items():
            if _KINDS[kind].wide and name not in wide:
                raise InputError(
                    f"{self.path}: {kind}: {name} cannot read int16: products can whose results "
                    "are int16, or what attention reads, and whose operands are a norm's, a "
                    "gate's, or attention's"
                )
        named = {name: _KINDS[kind] for name, (kind, _) in found.items()}
        return {name: named.get(name, Numbers.INT8) for name in products}


def read_precision(path: Path) -> PrecisionFile:
    """The file.  Raises `InputError` for what is none, and where it names nothing."""
    try:
        found = parse_toml(read_text(path, MIB))
    except ForeignFileError as error:
        raise InputError(f"--precision {error}") from None
    except ValueError as error:
        raise InputError(f"--precision {path}: {error}") from None
    for key, value in found.items():
        if key not in _KINDS:
            near = did_you_mean(key, _KINDS)
            raise InputError(f"{path}: {key}: there are {', '.join(_KINDS)}{near}")
        if not _is_names(value):
            raise InputError(f'{path}: {key}: is no list of names, such as ["/layer.0/MatMul"]')
    if not any(found.values()):
        raise InputError(f"{path}: names no product")
    return PrecisionFile(path, {key: tuple(value) for key, value in found.items()})


def _is_names(value: object) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(isinstance(each, str) for each in value)
    )
