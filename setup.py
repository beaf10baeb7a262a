"""Maps the top-level folders onto the import package `celosia`; the rest is in pyproject.toml."""

from setuptools import find_packages, setup

LAYERS = ("isa", "hw", "sw", "sim", "lab")

setup(
    packages=[
        "celosia",
        *(
            f"celosia.{name}"
            for layer in LAYERS
            for name in find_packages(include=[layer, f"{layer}.*"])
        ),
        "celosia.docs",
    ],
    package_dir={"celosia": "api"} | {f"celosia.{name}": name for name in (*LAYERS, "docs")},
    package_data={
        "": ["py.typed"],
        "celosia.sim": [
            "**/*.cpp",
            "**/*.h",
            "**/*.c",
            "**/*.html",
            "**/*.css",
            "**/*.js",
            "**/*.toml",
        ],
        "celosia.lab": ["**/*.cpp", "nas/**/*.json", "survey/**/*.toml", "survey/**/*.md"],
        "celosia.sw": ["reference/data/*.txt", "reference/language/data/**/*"],
        "celosia.docs": ["report.schema.json"],  # What reports are checked against when read.
    },
)
