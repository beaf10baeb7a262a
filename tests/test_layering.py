"""Who may import whom.  The tables below are the architecture; this test keeps them true."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LAYERS = {
    "isa": set(),
    "hw": {"isa"},
    "sw": {"isa"},
    "sim": {"isa", "hw", "sw"},
}
"""Each layer, and the others that it may import."""

THIRD_PARTY = {
    "isa": set(),
    "hw": {"amaranth"},
    "sw": {"numpy", "safetensors", "tokenizers"},
}
"""Packages outside the standard library that a layer may import; `sim` may import any."""

EXCEPTIONS = {
    "isa/numerics": {"numpy"},
    "isa/functions": {"numpy"},
    "isa/execution": {"numpy"},
}
"""Folders that may import more than their layer."""

DRIVERS = {"accelerator", "control", "frontend", "generate", "issue"}
"""Parts of `hw` that drive others."""

DRIVEN = {"compute", "lib", "memory", "vector"}
"""Parts of `hw` that do not know who drives them."""


def python_files(layer: str) -> list[Path]:
    return sorted((ROOT / layer).rglob("*.py"))


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


@pytest.mark.parametrize("part", sorted(DRIVEN))
def test_a_driven_part_of_the_hardware_does_not_know_its_driver(part):
    for path in python_files(f"hw/{part}"):
        for module, line in imported_modules(path).items():
            if module.startswith("celosia.hw."):
                other = module.split(".")[2]
                assert other not in DRIVERS, f"{path}:{line}: {part} imports {module}"
                assert part != "lib" or other == "lib", f"{path}:{line}: lib imports {module}"


def test_no_part_of_the_hardware_imports_the_top():
    for path in python_files("hw"):
        if path.name not in {"accelerator.py", "top.py", "axi_top.py"}:
            modules = imported_modules(path)
            assert "celosia.hw.accelerator" not in modules, f"{path} imports the top"
