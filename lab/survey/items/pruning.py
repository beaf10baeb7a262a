"""Pruning, the survey's section 4: what it gains on this RTL, what it costs, and a limit beside it.

The section reviews what others published for other machines, so no number of the survey's stands
beside ours.  Models are not pruned here: their numbers are of `parts/pruned.toml`, as
docs/pruning.md has them with the commands.
"""

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Final

from celosia.lab.survey.parts.values import Evidence, Item, Study, Value

__all__ = ["STUDIES"]


def _values() -> Iterator[Value]:
    text = files("celosia.lab.survey.parts").joinpath("pruned.toml").read_text()
    found = tomllib.loads(text)
    for technique in found["technique"]:
        settings = {"command": technique["command"], "machine": found["machine"]}
        yield from _technique(technique, settings)


def _technique(found: Mapping[str, Any], settings: Mapping[str, Any]) -> Iterator[Value]:
    name, removed, what = found["name"], found["removed"], found.get("what", "weights")
    if "quality" in found:
        yield Value(
            name=f"{name}: {found['quality']['name']}",
            ours=found["quality"]["value"],
            kind="model",
            settings=settings,
            note="float32, of the model as it was",
        )
    for scenario, cycles in found["inputs"].items():
        yield Value(
            name=f"{name}: {scenario}, times fewer cycles",
            ours=round(cycles["before"] / cycles["after"], 3),
            kind="rtl" if cycles["rtl"] else "model",
            settings=settings,
            note=f"{cycles['before']:,} and {cycles['after']:,} cycles",
            unit="times",
        )
    yield Value(
        name=f"{name}: the limit",
        ours=round(1 / (1 - removed / 100), 3),
        kind="arithmetic",
        settings=settings,
        note=f"if every cycle belonged to {what}, of which {removed} % are gone",
        unit="times",
    )


def _make(evidence: Evidence) -> Item:
    return Item(
        id="pruning",
        title="Pruning on this RTL: channels, heads, tiles, tokens",
        where=evidence.paper.where("pruning"),
        values=tuple(_values()),
        notes=(
            "What is left are smaller matrices: nothing of the hardware or of the compiler is "
            "special for it. Least squares on calibration texts fits what reads the channels.",
            "2:4 is at most twice as fast, for operands at twice the rate and a choice of one of "
            "four at each product: about 95 gates for each of 256 cells, 24 kGE, which nobody "
            "built. Bytes of weights are 0.625 of what they were, and so memory's limit is 1.6.",
            "Zeros of activations gain nothing on a rigid array: 1.0. Each takes the cycle of the "
            "row that it is in.",
            "Tiles of zero weights are a loss: they cost 7.9 % of perplexity where as many weights "
            "in channels cost 0.1 %, and programs that skipped them would gain no more. So none "
            "does; their cycles are those at best.",
            "Fewer tokens: the host picks rows between two programs, by the attention that tokens "
            "receive. Of MiniLM a cosine of .99 was wanted; docs/pruning.md has what was tried.",
        ),
    )


STUDIES: Final = (Study(id="pruning", jobs=lambda _scope: (), make=_make),)
