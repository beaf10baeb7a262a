"""The examples of the numerics are executed: those of the functions and those of the page."""

import doctest
import importlib
import pkgutil
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

from celosia.isa import numerics

PAGE = Path(__file__).parents[3] / "docs" / "numerics.md"
MODULES = sorted(module.name for module in pkgutil.iter_modules(numerics.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_functions_are_right(name):
    module = importlib.import_module(f"celosia.isa.numerics.{name}")
    failed, tried = doctest.testmod(module)
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_every_public_function_has_an_example(name):
    module = importlib.import_module(f"celosia.isa.numerics.{name}")
    checks = {"check_columns", "check_format"}
    for public in set(module.__all__) - checks:
        value = getattr(module, public)
        if callable(value) and not isinstance(value, type) and value.__module__ == module.__name__:
            assert ">>> " in (value.__doc__ or ""), f"{name}.{public} has no example"


def test_the_page_is_right():
    names = {"np": np} | {name: getattr(numerics, name) for name in numerics.__all__}
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, globs=names)
    assert tried >= 60
    assert failed == 0


def test_the_page_names_every_function():
    page = PAGE.read_text()
    for name in numerics.__all__:
        if isinstance(getattr(numerics, name), type | FunctionType):
            assert f"`{name}" in page or f"{name}(" in page, f"{PAGE.name} leaves out {name}"
