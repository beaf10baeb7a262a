"""Modules that need a package which a plain installation does not bring."""

import re
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any, Final

from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError

__all__ = ["check_extra", "import_extra", "installed_by"]

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


def check_extra(package: str, extra: str) -> None:
    """Raise `EnvironmentProblem` if the package is not there: before a long run, not after."""
    if find_spec(package) is None:
        raise EnvironmentProblem(f"this needs the package {package}: {installed_by(extra)}")


def installed_by(extra: str) -> str:
    """What installs the packages of an extra: Celosia is in no package index.

    That is a command in the checkout that this code is of, or else one with the wheel's file.
    """
    try:
        checkout_root()
    except InputError:
        wheel = f"celosia-{metadata.version('celosia')}-py3-none-any.whl"
        return f"pip install '{wheel}[{extra}]', the file that Celosia was installed from"
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
