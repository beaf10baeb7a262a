"""Modules that need a package which a plain installation does not bring."""

from importlib import import_module
from typing import Any

from celosia.sim.support.errors import EnvironmentProblem

__all__ = ["import_extra"]


def import_extra(module: str, extra: str) -> Any:
    """A module of ours.  Raises `EnvironmentProblem` that says which extra has its packages."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise EnvironmentProblem(
            f"this needs the package {error.name}: pip install 'celosia[{extra}]'"
        ) from None
