"""The structures of Python against the headers of C++: fields, types, order and constants."""

import ctypes
import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from celosia.isa.memory import CHANNELS
from celosia.sim.verilator.harness import binding

ROOT = Path(binding.__file__).parents[1]
HEADERS = sorted([*ROOT.glob("harness/*.h"), *ROOT.glob("memory/*.h")])
HEADERS += [ROOT / "harness/library.cpp"]
TEXT = "\n".join(re.sub(r"//[^\n]*", "", path.read_text()) for path in HEADERS)
STRUCTURES = {
    name: kind
    for name in binding.__all__
    if isinstance(kind := getattr(binding, name), type) and issubclass(kind, ctypes.Structure)
}
NUMBERS: dict[str, int] = {}
"""The constants of the headers."""
for found in re.finditer(r"\b(k\w+) = (\d+)[,;]", TEXT):
    NUMBERS[found[1]] = int(found[2])
ENUMS = {
    found[1]: [name.strip() for name in found[2].split(",")]
    for found in re.finditer(r"enum (\w+) : \w+ \{([^}=]*)\}", TEXT)
}
for names in ENUMS.values():
    NUMBERS |= dict(zip(names, count(), strict=False))


def written(name: str) -> list[tuple[str, str, bool, int]]:
    """Fields of a structure: the type, whether it is a pointer, and how many, 0 for no array."""
    (body,) = re.findall(rf"struct {name} \{{\n(.*?)^(?:\}};|\n  bool)", TEXT, re.DOTALL | re.M)
    fields = []
    for line in body.split(";"):
        if not (declared := re.fullmatch(r"\s*(?:const )?(?:celosia::)?(\w+)(\*?) (.*)", line)):
            continue
        for each in declared[3].split(", "):
            field, _, size = each.rstrip("]").partition("[")
            size = size.removeprefix("celosia::")
            number = NUMBERS[size] if size in NUMBERS else int(size or 0)
            fields.append((field, declared[1], bool(declared[2]), number))
    return fields


def python(kind: Any) -> tuple[str, bool, int]:
    size = getattr(kind, "_length_", 0)
    kind = kind._type_ if size else kind
    pointer = kind.__name__.startswith("LP_")
    kind = kind._type_ if pointer else kind
    names: dict[Any, str] = {
        ctypes.c_uint8: "uint8_t",
        ctypes.c_uint32: "uint32_t",
        ctypes.c_uint64: "uint64_t",
        ctypes.c_char: "char",
    }
    return names.get(kind) or str(kind.__name__), pointer, size


@pytest.mark.parametrize("name", sorted(set(STRUCTURES) - {"Observed"}))
def test_a_structure_has_the_fields_of_its_header_in_order(name):
    found = [(field, *python(kind)) for field, kind, *_ in STRUCTURES[name]._fields_]
    assert found == written(name)


def test_what_is_observed_ends_with_the_events_of_a_cycle():
    """They are passed as bytes, behind what else there is."""
    found = [(field, *python(kind)) for field, kind, *_ in binding.Observed._fields_]
    assert found[:-1] == written("Observed")[:-1]
    assert [field for field, *_ in written("Observed")[-1:]] == ["events"]
    assert binding.Observed.counted.size == 8
    assert sum(number or 1 for *_, number in written("Events")[-4:]) == 8


@pytest.mark.parametrize("kind", [binding.State, binding.Goal])
def test_numbers_of_a_state_and_of_a_goal_are_those_of_the_bench(kind):
    names = ["k" + "".join(map(str.capitalize, each.name.split("_"))) for each in kind]
    assert [int(each) for each in kind] == list(range(len(kind)))
    assert names == ENUMS[kind.__name__]


def test_constants_are_those_of_the_headers():
    assert NUMBERS["kMaxBusBytes"] == binding.MAX_BUS_BYTES
    assert NUMBERS["kResetEdges"] == binding.RESET_EDGES
    assert NUMBERS["kQueues"] == binding.LOG_QUEUES
    assert NUMBERS["kSlots"] == binding.LOG_SLOTS
    assert NUMBERS["kActivities"] == binding.LOG_ACTIVITIES
    assert [f"kOp{moment.capitalize()}" for moment in binding.MOMENTS] == ENUMS["Moment"][:-1]
    assert [f"k{channel.capitalize()}" for channel in CHANNELS] == ENUMS["Channel"][:-1]


PROTOTYPE = re.compile(r"CELOSIA_API (?:const )?(\w+\*?) (\w+)\(([^)]*)\) \{")
SOURCES = [*HEADERS, ROOT / "harness/harness.cpp", ROOT / "harness/library.cpp"]
OPAQUE = {"Bench", "Device", "Memory", "AxiLiteHost", "Command", "TraceRequest"}
"""Structures of C++ that Python passes on by their addresses."""


def declared() -> dict[str, tuple[str, list[str]]]:
    """The result and the parameters of each function of C++."""
    found = {}
    for path in SOURCES:
        for result, name, parameters in PROTOTYPE.findall(path.read_text()):
            words = [
                each.replace("const ", "").replace("celosia::", "").split()
                for each in re.split(r",\s*", parameters)
                if each
            ]
            found[name] = (result, [word for word, *_ in words])
    return found


def passed(kind: Any) -> str:
    """A type of ctypes as the C++ has it; what it may be, for an address."""
    if kind is None or kind in {ctypes.c_void_p, ctypes.c_char_p}:
        return {None: "void", ctypes.c_void_p: "address", ctypes.c_char_p: "char*"}[kind]
    name, pointer, _ = python(kind)
    return name + "*" * pointer


def as_passed(kind: str) -> str:
    return "address" if kind.rstrip("*") in OPAQUE else kind


def test_functions_take_and_return_what_those_of_the_library_do():
    functions, there = binding._FUNCTIONS, declared()
    assert functions.keys() <= there.keys()
    for name, (result, arguments) in functions.items():
        known_result, known = there[name]
        assert [*map(passed, arguments)] == [*map(as_passed, known)], name
        if passed(result) != "address":
            assert passed(result) == known_result, name
        else:
            assert known_result.endswith("*"), name
