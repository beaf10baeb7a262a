"""Modules that need a package which a plain installation does not bring."""

import re
from importlib import import_module, metadata
from typing import Any, Final

from celosia.sim.support.errors import EnvironmentProblem

__all__ = ["import_extra", "installed_by"]

_NAME: Final = re.compile(r"[\w.-]+")


def import_extra(module: str, extra: str) -> Any:
    """A module of ours.  Raises `EnvironmentProblem` that says which extra has its packages."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # What is imported first may be a package's package, under a name that no package has.
        missing = [name for name in _packages(extra) if not _installed(name)] or [error.name]
        raise EnvironmentProblem(
            f"this needs the package {' and '.join(map(str, missing))}: {installed_by(extra)}"
        ) from None


def installed_by(extra: str) -> str:
    """What installs the packages of an extra: Celosia comes from its sources, not from PyPI."""
    return f"pip install -e '.[{extra}]' in the checkout of Celosia"


def _packages(extra: str) -> list[str]:
    """The packages that an extra asks for."""
    needed = [each for each in metadata.requires("celosia") or [] if f'extra == "{extra}"' in each]
    return [found[0] for each in needed if (found := _NAME.match(each))]


def _installed(package: str) -> bool:
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False
    return True
