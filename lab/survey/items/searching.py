"""Searching for a model that suits the machine: the survey's gains beside those of `celosia nas`.

A search takes hours and a trained supernet, so its gains are not made here: they are of
`parts/searched.toml`, and docs/nas.md says how they were found.
"""

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from celosia.lab.survey.parts.values import Evidence, Item, Study, Value

__all__ = ["STUDIES"]

_METRICS: Final = {"cycles": "latency", "energy": "energy", "EDP": "energy x delay"}
_LOSSES: Final = {"+0.45 %": "+0.1 perplexity", "+4.5 %": "+1 perplexity"}
"""Losses of ours, which are as much of the baseline's perplexity as the survey's of about 22."""


def _values(evidence: Evidence) -> Iterator[Value]:
    text = files("celosia.lab.survey.parts").joinpath("searched.toml").read_text()
    found = tomllib.loads(text)
    settings = {"command": found["command"], "machine": found["machine"]}
    for scenario in ("prefill", "step"):
        for loss, theirs in _LOSSES.items():
            for metric, name in _METRICS.items():
                yield Value(
                    name=f"{scenario}: times less {name} at {theirs}",
                    ours=found[scenario][metric][loss],
                    paper=evidence.paper.value("search", f"times less {name} at {theirs}"),
                    kind="model",
                    unit="times",
                    settings=settings,
                    note=f"ours at {loss} of the largest model's perplexity",
                )


def _make(evidence: Evidence) -> Item:
    return Item(
        id="search",
        title="A model that is searched for the machine, over the largest",
        where=evidence.paper.where("search"),
        values=tuple(_values(evidence)),
        notes=(
            "The loss is relative: 0.1 and 1 of the survey's perplexity of about 22 are 0.45 and "
            "4.5 %.",
            "The survey's baseline is a BERT-Base-like model of 6 layers that WikiText-2 leaves "
            "with weights to spare, its machine has 64 and 256 KiB, its costs are Timeloop's for "
            "whole texts. Ours has 3.3 million weights of which every one counts, the text is "
            "Python's manual, and a prefill and a step are searched apart.",
            "Energy is the default table's on both sides of a ratio, and mostly that of the bus. "
            "Perplexities are those of the supernet's weights; the survey says neither how its "
            "models were trained in the end, nor what random search finds with the same budget.",
        ),
    )


STUDIES: Final = (Study(id="search", jobs=lambda _scope: (), make=_make),)
