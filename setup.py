"""Maps the top-level folders onto the import package `celosia`; the rest is in pyproject.toml."""

from setuptools import find_packages, setup

LAYERS = ("isa", "hw", "sw", "sim")

setup(
    packages=[
        f"celosia.{name}"
        for layer in LAYERS
        for name in find_packages(include=[layer, f"{layer}.*"])
    ],
    package_dir={f"celosia.{layer}": layer for layer in LAYERS},
    package_data={
        "": ["py.typed"],
        "celosia.sim": ["**/*.cpp", "**/*.h", "**/*.c", "**/*.html", "**/*.css", "**/*.js"],
        "celosia.sw": ["reference/data/*.txt"],
    },
)
