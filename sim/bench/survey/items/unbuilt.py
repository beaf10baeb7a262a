"""Items whose part of Celosia is not there yet: they say so, and what it would take."""

from typing import Final

from celosia.sim.bench.survey.parts.values import Evidence, Item, Study

__all__ = ["STUDIES"]

_ITEMS: Final = {
    "fig21": (
        "Figures 21 and 22: pairs of operators fused or not",
        "section 5.5.2",
        "needs plans in which a pair is not fused, with int32 results in memory; not built",
    ),
    "decoder": (
        "GPT-2 token by token",
        "figures 9 and 32",
        "needs a decoder with keys and values that are kept; not built",
    ),
}


def _study(name: str) -> Study:
    title, where, missing = _ITEMS[name]

    def make(_evidence: Evidence) -> Item:
        return Item(id=name, title=title, where=where, missing=missing)

    return Study(id=name, jobs=lambda _scope: (), make=make)


STUDIES: Final = tuple(map(_study, _ITEMS))
