"""Seven places where the survey's numbers do not agree, by arithmetic on its own numbers."""

from collections.abc import Iterator
from typing import Final

from celosia.lab.survey.parts.operators import Elementwise, Product, layer_operators
from celosia.lab.survey.parts.values import CYCLES, PERCENT, Evidence, Item, Study, Value
from celosia.sw.reference.encoder import BERT_BASE

__all__ = ["STUDIES"]

_TOKENS: Final = 512
_WIDTH: Final = 16
"""Rows of the array, and lanes of the vector unit."""
_SOFTMAX_PASSES: Final = 3
_SAMPLE_LAYERS: Final = 6
_UNITS: Final = (PERCENT, "elements per cycle", CYCLES)
"""What the numbers are of, each in the name of its own."""


class _Facts:
    """The survey's numbers, and what follows from them for BERT-Base at l = 512."""

    def __init__(self, evidence: Evidence):
        self.paper = evidence.paper
        operators = layer_operators(BERT_BASE, _TOKENS)
        products = [op for op in operators if isinstance(op, Product)]
        self.sizes = {op.name: op.size for op in operators if isinstance(op, Elementwise)}
        self.layer = sum(op.macs for op in products) / _WIDTH**2
        self.scores = sum(op.macs for op in products if op.name == "scores") / _WIDTH**2
        self.ideal = BERT_BASE.layers * self.layer
        self.good = self.grid(256, 64)
        self.matmul = self.percent("fig14", "after: matmul and GELU share")
        self.after = self.ideal / self.good / self.matmul
        self.speedup = self.paper.value("fig14", "speed-up")

    def percent(self, item: str, name: str) -> float:
        return self.paper.value(item, name) / 100

    def grid(self, acc: int, pad: int) -> float:
        return self.percent("fig13", f"accumulator {acc} KiB, scratchpad {pad} KiB")

    def share_cycles(self, name: str) -> float:
        """Cycles per layer of a share of the accelerated run."""
        return self.percent("fig14", f"after: {name} share") * self.after / BERT_BASE.layers


def _values(evidence: Evidence) -> Iterator[Value]:
    facts = _Facts(evidence)
    found = (*_latency(facts), *_shares(facts), *_operators(facts), *_axis(facts))
    for name, theirs, ours, note in found:
        unit = next(unit for unit in _UNITS if unit in name)
        yield Value(name=name, paper=theirs, ours=ours, kind="arithmetic", unit=unit, note=note)


_Line = tuple[str, float, float, str]


def _latency(facts: _Facts) -> Iterator[_Line]:
    """The first and the second."""
    saved = facts.paper.value("text", "latency saved by other memory sizes, percent")
    alone = facts.percent("text", "utilization of products alone, percent")
    for start, where in ((facts.grid(64, 256), "figure 13"), (alone, "the text")):
        ours = 100 * (1 - start / facts.good)
        yield f"1: percent saved, from the start of {where}", saved, ours, "utilizations' ratio"
    start = 100 * facts.good * (1 - saved / 100)
    yield "1: percent of utilization that the saving needs", 100 * alone, start, ""
    least = facts.paper.value("text", "utilization of the baseline, at most, percent")
    baseline = 100 * facts.ideal / (facts.speedup * facts.after)
    note = f"{facts.ideal:,.0f} ideal cycles, {facts.after:,.0f} after, times the speed-up before"
    yield "2: percent of utilization before", least, baseline, note


def _shares(facts: _Facts) -> Iterator[_Line]:
    """The third and the seventh."""
    printed = facts.paper.value("fig14", "before: matmul share")
    cut = 1 - facts.percent("text", "latency saved by other memory sizes, percent")
    share = 100 * facts.matmul / facts.speedup
    yield "3: percent of products before, same products", printed, share, "share over speed-up"
    yield "3: percent of products before, with the saving", printed, share / cut, ""
    other = 100 - facts.paper.value("text", "execution that is no product, percent")
    yield "3: percent of products before, by the text", other, share / cut, ""
    parts = ("softmax", "layernorm", "residual")
    total = sum(facts.paper.value("fig14", f"after: {name} share") for name in parts)
    text = facts.paper.value("text", "latency of what is no product, percent")
    yield "7: percent of latency that is no product", text, total, "sum of figure 14's shares"


def _operators(facts: _Facts) -> Iterator[_Line]:
    """The fourth and the fifth."""
    share = facts.percent("text", "softmax's share of the pair with scores, percent")
    pair = facts.scores * share / (1 - share)
    ours = facts.share_cycles("softmax")
    yield "4: cycles of softmax per layer, figure 21 and figure 14", pair, ours, ""
    passes = _SOFTMAX_PASSES * facts.sizes["softmax"] / _WIDTH
    yield "4: cycles of softmax per layer, figure 14 and three passes", ours, passes, ""
    crossing = 4 * facts.sizes["softmax"] / _WIDTH
    note = "figure 21 fits if scores are spilled as int32: a write, reads, passes"
    yield "4: cycles of softmax per layer, figure 21 and one spill", pair, crossing, note
    for name in ("layernorm", "residual"):
        pace = facts.sizes[name] / facts.share_cycles(name)
        yield f"5: {name} elements per cycle, lanes and figure 14", _WIDTH, pace, ""


def _axis(facts: _Facts) -> Iterator[_Line]:
    """The sixth."""
    printed = facts.paper.value("text", "cycles of a sample, as its axis has them")
    product = facts.paper.value("text", "energy-delay product of the best sample")
    energy = facts.paper.value("text", "energy of a sample, mJ")
    note = "the energy-delay product over the energy: the axis is of 10^6 cycles, not of 10^9"
    yield "6: cycles of a sample of the search", printed, product / energy, note
    ideal = _SAMPLE_LAYERS * facts.layer
    yield "6: cycles of a sample, as many ideal layers of BERT-Base", printed, ideal, ""


def _make(evidence: Evidence) -> Item:
    return Item(
        id="inconsistencies",
        title="Seven places where the survey's numbers do not agree",
        where="sections 3.4, 5.5, 6.4 and 7",
        values=tuple(_values(evidence)),
        notes=(
            "Each line has a number that the survey prints or that follows from one figure, and "
            "the same computed from others of its numbers. BERT-Base, l = 512, 256 products per "
            "cycle.",
        ),
    )


STUDIES: Final = (Study(id="inconsistencies", jobs=lambda _scope: (), make=_make),)
