"""Tables of planted faults, those of the checkout included."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from celosia.lab.mutate.edit import apply_edit
from celosia.lab.mutate.equivalents import load_equivalents
from celosia.lab.mutate.mirrors import LAYERS
from celosia.lab.mutate.planted import load_faults, parse_faults
from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.problems import InputError

ROOT = checkout_root()
FAULT = """
[[fault]]
name = "two"
fault = "two is three"
file = "hw/a.py"
inside = "two"
change = "2"
to = "3"
caught_by = ["tests/a.py -k two"]
"""


@cache
def faults():
    """The planted faults of the checkout, which are read once."""
    return load_faults(ROOT)


def test_a_fault_says_what_it_is_and_applies(tmp_path):
    (fault,) = parse_faults(FAULT, "hw.toml")
    assert (fault.name, fault.title) == ("two", "two is three")
    assert (fault.tests, fault.paths) == (("tests/a.py -k two",), ("hw/a.py",))
    (tmp_path / "hw").mkdir()
    (tmp_path / "hw" / "a.py").write_text("def two():\n    return 2\n")
    assert fault.changed(tmp_path) == {"hw/a.py": "def two():\n    return 3\n"}


def test_a_fault_whose_place_has_gone_is_named(tmp_path):
    (fault,) = parse_faults(FAULT, "hw.toml")
    with pytest.raises(InputError, match=r"two: does not apply: there is no file hw/a.py"):
        fault.changed(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('change = "2"\n', "", r"hw.toml: fault 1 \(two\): change is missing"),
        ("inside", "in", r"fault 1 \(two\): in is not a key"),
        ('"3"', "3", "to: 3 is not text"),
        ('["tests/a.py -k two"]', '"tests/a.py"', "caught_by: .* is not a list"),
        ('to = "3"', 'to = "3"\nwhich = -1', "which: -1 is not a number from 1"),
        ("hw/a.py", "../a.py", "is not a file below the root"),
        ("[[fault]]", "[[faults]]", "other things than tables"),
        ("[[fault]]", "[[fault]", "hw.toml: not TOML"),
    ],
)
def test_what_is_no_fault(old, new, message):
    with pytest.raises(InputError, match=message):
        parse_faults(FAULT.replace(old, new), "hw.toml")


def test_names_are_given_once(tmp_path):
    folder = tmp_path / "tests" / "faults"
    folder.mkdir(parents=True)
    for layer in LAYERS:
        (folder / f"{layer}.toml").write_text(FAULT)
    with pytest.raises(InputError, match="two faults have the name 'two'"):
        load_faults(tmp_path)


def test_every_fault_of_the_checkout_applies_and_names_tests_that_exist():
    changed = {}
    for fault in faults():
        assert fault.title
        assert fault.tests
        for test in fault.tests:
            path, _, function = test.split()[0].partition("::")
            assert (ROOT / path).exists(), test
            assert not function or f"def {function}(" in (ROOT / path).read_text(), test
        for path, text in fault.changed(ROOT).items():
            twin = changed.setdefault((path, text), fault.name)
            assert twin == fault.name, f"{fault.name} is the same as {twin}"


def test_a_fault_is_in_the_table_of_its_package():
    for layer in LAYERS:
        text = (ROOT / "tests" / "faults" / f"{layer}.toml").read_text()
        assert {each.edit.file.split("/")[0] for each in parse_faults(text, layer)} <= {layer}


def test_every_file_of_the_hardware_has_a_fault():
    changed = {path for fault in faults() for path in fault.paths}
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "hw").rglob("*.py")}
    assert not {path for path in files - changed if not path.endswith("__init__.py")}


@pytest.mark.parametrize("layer", ["isa", "sw"])
def test_every_folder_of_contract_and_compiler_has_a_fault(layer):
    """Each folder of `isa` and `sw` has one; those of `sim` that only show something need none."""
    changed = {Path(path).parent for fault in faults() for path in fault.paths}
    files = [path.relative_to(ROOT) for path in (ROOT / layer).rglob("*.py")]
    assert {path.parent for path in files if path.name != "__init__.py"} <= changed


def test_there_are_as_many_faults_in_software_as_in_hardware():
    layers = Counter(path.split("/")[0] for each in faults() for path in each.paths)
    assert layers["isa"] + layers["sw"] + layers["sim"] >= 120


def test_every_change_that_is_called_equivalent_is_one_that_can_be_made():
    for each in load_equivalents(ROOT):
        apply_edit(each.edit, ROOT)
