"""What a message says of packages that are not there."""

from importlib import metadata

import pytest

from celosia.sim.support import extras
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError

WHERE = "in the checkout of Celosia"


def without(monkeypatch, *packages):
    """As if these were not installed; what is imported first is `google`, one that onnx brings."""
    found = metadata.distribution

    def distribution(name):
        if name in packages:
            raise metadata.PackageNotFoundError(name)
        return found(name)

    def missing(module):
        raise ModuleNotFoundError(module, name="google")

    monkeypatch.setattr(metadata, "distribution", distribution)
    monkeypatch.setattr(extras, "import_module", missing)


def test_the_package_that_is_named_is_one_that_can_be_installed(monkeypatch):
    without(monkeypatch, "onnx")
    said = rf"^this needs the package onnx: pip install -e '\.\[onnx\]' {WHERE}$"
    with pytest.raises(EnvironmentProblem, match=said):
        extras.import_extra("any", "onnx")
    without(monkeypatch, "jax", "optax")
    with pytest.raises(EnvironmentProblem, match=r"the package jax and optax: .*'\.\[training\]'"):
        extras.import_extra("any", "training")


def test_a_package_without_one_that_it_brings(monkeypatch):
    without(monkeypatch)
    with pytest.raises(EnvironmentProblem, match="this needs the package google: pip"):
        extras.import_extra("any", "report")


def test_a_package_that_a_long_command_needs_at_its_end_is_asked_for_first():
    extras.check_extra("numpy", "report")
    with pytest.raises(EnvironmentProblem, match=r"the package not_there: pip .*\[report\]"):
        extras.check_extra("not_there", "report")


def test_outside_of_a_checkout_an_extra_is_one_of_the_wheel(monkeypatch):
    def nowhere():
        raise InputError("not a checkout")

    monkeypatch.setattr(extras, "checkout_root", nowhere)
    monkeypatch.setattr(extras.metadata, "version", lambda _: "1.2.3")
    said = extras.installed_by("onnx")
    assert said.startswith("pip install 'celosia-1.2.3-py3-none-any.whl[onnx]', the file")
