"""Who may import whom.  The tables below are the architecture; this test keeps them true."""

import ast
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LAYERS = {
    "isa": set(),
    "hw": {"isa"},
    "sw": {"isa"},
    "sim": {"isa", "hw", "sw"},
    "lab": {"isa", "hw", "sw", "sim"},
    "api": {"sim"},
}
"""Each layer, and the others that it may import."""

THIRD_PARTY = {
    "isa": set(),
    "hw": {"amaranth"},
    "sw": {"numpy", "safetensors", "tokenizers"},
    "api": {"numpy"},
}
"""Packages outside the standard library that a layer may import; `sim` and `lab` may import any."""

EXCEPTIONS = {
    "isa/numerics": {"numpy"},
    "isa/functions": {"numpy"},
    "isa/execution": {"numpy"},
    "lab/exports": {"onnx"},
    "lab/exports/writing": {"onnx"},
    "sw/frontend/importer": {"numpy", "onnx"},
    "sw/frontend/importer/handlers": {"numpy", "onnx"},
    "sw/frontend/importer/source": {"google", "numpy", "onnx"},
    "sw/frontend/dialects": {"xdsl"},
    "sw/models/dialects": {"numpy", "xdsl"},
    "lab/training": {"jax", "optax"},
}
"""Folders that may import more than their layer."""

DRIVEN = {
    "lib": set(),
    "bus": {"lib"},
    "memory": {"lib"},
    "vector": {"lib", "memory"},
}
"""Rooms of `hw` that do not know who drives them, and the other rooms that each may import."""

ROOM_ENTRIES = 17
"""Files and folders on top of a folder: 15, and `__init__.py` and `py.typed`."""


def python_files(layer: str) -> list[Path]:
    return sorted((ROOT / layer).rglob("*.py"))


@cache
def imported_modules(path: Path) -> dict[str, int]:
    """Every module that `path` imports, also inside functions, and the line."""
    modules = {}
    for node in ast.walk(ast.parse(path.read_text(), filename=str(path))):
        if isinstance(node, ast.Import):
            modules |= {alias.name: node.lineno for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            assert node.module is not None
            modules[node.module] = node.lineno
            modules |= {f"{node.module}.{alias.name}": node.lineno for alias in node.names}
    return modules


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_only_the_layers_it_may(layer):
    for path in python_files(layer):
        for module, line in imported_modules(path).items():
            top, _, rest = module.partition(".")
            if top == "celosia" and rest:
                allowed = LAYERS[layer] | {layer}
                assert rest.split(".")[0] in allowed, f"{path}:{line}: {layer} imports {module}"
            assert top != "tests", f"{path}:{line}: imports {module}"


@pytest.mark.parametrize("layer", [*LAYERS, "tests"])
def test_layers_are_imported_by_their_full_name(layer):
    """`import hw` works from the root of the repository, and would load the module twice."""
    for path in python_files(layer):
        for module, line in imported_modules(path).items():
            assert module.split(".")[0] not in LAYERS, f"{path}:{line}: celosia.{module} is meant"


@pytest.mark.parametrize("layer", THIRD_PARTY)
def test_a_layer_imports_only_the_packages_it_may(layer):
    for path in python_files(layer):
        folder = path.parent.relative_to(ROOT).as_posix()
        allowed = THIRD_PARTY[layer] | EXCEPTIONS.get(folder, set()) | {"celosia"}
        for module, line in imported_modules(path).items():
            top = module.split(".")[0]
            assert top in sys.stdlib_module_names | allowed, f"{path}:{line}: imports {module}"


@pytest.mark.parametrize("room", DRIVEN)
def test_a_driven_room_of_the_hardware_does_not_know_its_driver(room):
    for path in python_files(f"hw/{room}"):
        for module, line in imported_modules(path).items():
            if module.startswith("celosia.hw."):
                other = module.split(".")[2]
                assert other in DRIVEN[room] | {room}, f"{path}:{line}: {room} imports {module}"


@cache
def source_of(module: str) -> Path | None:
    """The file of one of our modules; None for a package that only says what it is."""
    place = ROOT.joinpath(*module.split(".")[1:])
    if module.count(".") > 1 and place.with_suffix(".py").exists():
        return place.with_suffix(".py")
    package = place / "__init__.py"
    if package.exists() and len(ast.parse(package.read_text()).body) > 1:
        return package
    return None


def room_imports(layer: str, parts: int | None) -> dict[Path, dict[Path, str]]:
    """The rooms that each room of a layer imports from, with an example.

    A room is a folder; or with `parts`, so many parts of a path from the root on.
    """
    edges: dict[Path, dict[Path, str]] = {}

    def room(path: Path) -> Path:
        inside = path.relative_to(ROOT)
        return inside.parent if parts is None else Path(*inside.parts[:parts])

    for path in python_files(layer):
        for module, line in imported_modules(path).items():
            source = source_of(module) if module.startswith(f"celosia.{layer}.") else None
            if source is not None and room(source) != room(path):
                example = f"{path.relative_to(ROOT)}:{line}: imports {module}"
                edges.setdefault(room(path), {}).setdefault(room(source), example)
    return edges


@pytest.mark.parametrize("parts", [None, 2])
@pytest.mark.parametrize("layer", LAYERS)
def test_rooms_do_not_import_each_other_in_circles(layer, parts):
    edges = room_imports(layer, parts)
    done: set[Path] = set()

    def visit(folder: Path, way: tuple[Path, ...]) -> None:
        if folder in way:
            circle = [*way[way.index(folder) :], folder]
            examples = [edges[one][other] for one, other in pairwise(circle)]
            raise AssertionError("a circle of rooms:\n" + "\n".join(examples))
        if folder not in done:
            for other in edges.get(folder, {}):
                visit(other, (*way, folder))
            done.add(folder)

    for folder in edges:
        visit(folder, ())


@pytest.mark.parametrize("layer", LAYERS)
def test_a_folder_is_a_room_that_one_overlooks(layer):
    for folder in {path.parent for path in python_files(layer)}:
        entries = [entry for entry in folder.iterdir() if entry.name != "__pycache__"]
        assert len(entries) <= ROOM_ENTRIES, f"{folder} has {len(entries)} entries; split it"


def test_no_part_of_the_hardware_imports_the_top():
    for path in python_files("hw"):
        if path.name not in {"top.py", "axi_top.py"}:
            modules = imported_modules(path)
            assert "celosia.hw.accelerator" not in modules, f"{path} imports the top"
