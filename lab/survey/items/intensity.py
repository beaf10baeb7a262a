"""Tables 3, 4 and 5: operations, bytes, and how many of the ones for each of the others."""

from collections.abc import Iterator, Sequence
from typing import Final

from celosia.lab.survey.parts.analytical import Machine
from celosia.lab.survey.parts.operators import (
    ATTENTION,
    FFN,
    OTHER,
    PROJECTION,
    Operator,
    Product,
    layer_operators,
)
from celosia.lab.survey.parts.resnet import resnet_layers
from celosia.lab.survey.parts.values import Evidence, Item, Study, Value
from celosia.sw.reference.encoder import BERT_BASE

__all__ = ["LENGTHS", "STUDIES"]

LENGTHS: Final = (128, 512, 4096)
_GROUPS: Final = (PROJECTION, ATTENTION, FFN, OTHER)
_PER_BYTE: Final = "operations per byte"
_UNITS: Final = {
    "FLOPs": "operations",
    "MOPs": "elements moved",
    "intensity": "operations per element",
}


def _settings(tokens: int) -> dict[str, object]:
    return {"model": str(BERT_BASE), "layers": BERT_BASE.layers, "seq": tokens}


def _sums(operators: Sequence[Operator]) -> tuple[int, int]:
    """Operations and elements of all layers."""
    layers = BERT_BASE.layers
    return layers * sum(op.flops for op in operators), layers * sum(op.elements for op in operators)


def _ideal(evidence: Evidence) -> Item:
    """Table 3."""

    def values() -> Iterator[Value]:
        for tokens in LENGTHS:
            layer = layer_operators(BERT_BASE, tokens)
            groups = {name: [op for op in layer if op.group == name] for name in _GROUPS}
            for name, operators in {**groups, "total": layer}.items():
                flops, elements = _sums(operators)
                found = {"FLOPs": flops, "MOPs": elements, "intensity": flops / elements}
                for what, ours in found.items():
                    yield evidence.value(
                        "tab3",
                        f"l={tokens} {name} {what}",
                        ours,
                        "arithmetic",
                        settings=_settings(tokens),
                        unit=_UNITS[what],
                    )
            flops, elements = _sums(layer)
            fewer = elements - BERT_BASE.layers * tokens * BERT_BASE.width
            printed = evidence.paper.value("tab3", f"l={tokens} total intensity")
            yield Value(
                name=f"l={tokens} total intensity, one tensor fewer",
                paper=printed,
                ours=flops / fewer,
                kind="arithmetic",
                settings=_settings(tokens),
                unit=_UNITS["intensity"],
                note="17 instead of 18 elements per token and column beside softmax",
            )

    return Item(
        id="tab3",
        title="Table 3: operations and elements moved, each operator alone, all in bytes",
        where=evidence.paper.where("tab3"),
        values=tuple(values()),
        notes=(
            "Counted from the graph that the compiler gets. A product makes 2 K - 1 operations per "
            "element, one more with a bias: this is what the survey's digits say, too.",
            "Beside products the survey's operations fit 4 per element of softmax and 58 per token "
            "and column at all three lengths; how the 58 are shared it does not say.",
            "GELU reads and writes 8 elements per token and column, two normalizations 4, two "
            "residual sums 6: 18. The survey's intensities follow from 17 at all three lengths: it "
            "counts one tensor less, in every layer, than its own table 5, which has all 18.",
        ),
    )


def _resnet(evidence: Evidence) -> Item:
    """Table 4."""
    layers = resnet_layers()
    flops = sum(layer.flops for layer in layers)
    fused = sum(layer.bytes for layer in layers)
    unfused = fused + sum(layer.unfused_bytes for layer in layers)
    more = {"settings": {"model": "ResNet-50 v1, 224 x 224, stride in the first 1 x 1 convolution"}}
    values = tuple(
        evidence.value("tab4", f"ResNet-50 {name}", ours, "arithmetic", unit=unit, **more)
        for name, ours, unit in (
            ("FLOPs", flops, _UNITS["FLOPs"]),
            ("intensity, unfused", flops / unfused, _PER_BYTE),
            ("intensity, fused", flops / fused, _PER_BYTE),
        )
    )
    return Item(
        id="tab4",
        title="Table 4: ResNet-50, batch normalization and ReLU fused or not",
        where=evidence.paper.where("tab4"),
        values=values,
        notes=(
            "Each convolution, each pooling and the classifier read their input and weights and "
            "write their output once, a residual sum moves three tensors. Normalization takes 2 "
            "operations per element, ReLU, a residual sum and an element of a pooling window 1. "
            "The survey prints none of this; fused, its number follows.",
            "Unfused, normalization and ReLU read and write each output again, which leaves the "
            "survey's number below ours: it moves about one tensor more for each convolution.",
        ),
    )


def _real(evidence: Evidence) -> Item:
    """Table 5."""
    machine = Machine.of(evidence.paper.tables["machine"])

    def values() -> Iterator[Value]:
        for tokens in LENGTHS:
            layer = layer_operators(BERT_BASE, tokens)
            parts = {op.name: [op] for op in layer if isinstance(op, Product)}
            for name, operators in {**parts, "total": list(layer)}.items():
                moved = sum(machine.dram_bytes(op) for op in operators)
                yield evidence.value(
                    "tab5",
                    f"l={tokens} {name}",
                    sum(op.flops for op in operators) / moved,
                    "arithmetic",
                    settings={**_settings(tokens), "l2_tile": machine.l2_tile},
                    unit=_PER_BYTE,
                )

    return Item(
        id="tab5",
        title="Table 5: operations per byte between DRAM and L2",
        where=evidence.paper.where("tab5"),
        values=tuple(values()),
        notes=(
            "The survey does not print its tiles. All its cells follow from square tiles of "
            f"{machine.l2_tile} x {machine.l2_tile} bytes (half of L2 for one operand), int32 "
            "where what comes next is not linear, and a bias that is read as a matrix of bytes, "
            "as Gemmini reads it.",
        ),
    )


STUDIES: Final = tuple(
    Study(id=name, jobs=lambda _scope: (), make=make)
    for name, make in (("tab3", _ideal), ("tab4", _resnet), ("tab5", _real))
)
