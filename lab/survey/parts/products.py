"""A layer of BERT-Base, and its products, as runs of their own."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from celosia.lab.survey.parts.jobs import Job
from celosia.lab.survey.parts.operators import MODELS, Product, layer_operators
from celosia.sim.workloads.details import Encoder, EncoderLayer, Matmul, ProductForm
from celosia.sw.reference.encoder import BERT_BASE

__all__ = [
    "TOKENS",
    "LayerProduct",
    "layer_job",
    "layer_products",
    "product_job",
    "stack_job",
]

TOKENS: Final = 512
MACS_PER_CYCLE: Final = 256
"""Products that the array of every configuration here makes in a cycle."""


@dataclass(frozen=True, kw_only=True)
class LayerProduct:
    """A product, and how often a layer has one of its size."""

    operator: str
    """Its name in `celosia.lab.survey.parts.operators`."""
    shape: str
    macs: int
    count: int
    transpose_b: bool


@cache
def layer_products(tokens: int = TOKENS) -> tuple[LayerProduct, ...]:
    """The products of a layer of BERT-Base with `tokens`, one of each size.

    *output* is as large as *query*, *key* and *value*, which stand for it.
    """
    found: dict[str, LayerProduct] = {}
    for op in layer_operators(BERT_BASE, tokens):
        if isinstance(op, Product):
            shape = f"{op.rows}x{op.cols}x{op.depth}"
            known = found.get(shape)
            found[shape] = LayerProduct(
                operator=known.operator if known else op.name,
                shape=shape,
                macs=op.macs // op.count,
                count=op.count + (known.count if known else 0),
                transpose_b=op.name == "scores",
            )
    return tuple(found.values())


def product_job(product: LayerProduct, **setting: Any) -> Job:
    """The run of one `product`, on the setting that a `Job` takes."""
    form = ProductForm(transpose_b=product.transpose_b)
    details = Matmul(shape=product.shape, form=form)
    return Job(
        workload="matmul", details=details, array_cycles=product.macs // MACS_PER_CYCLE, **setting
    )


def layer_job(tokens: int, mode: str = "", model: str = "BERT-Base") -> Job:
    """The run of one layer of `model` on `tokens` tokens, on `base`.

    `mode` is one of a host's, of BERT-Base alone; empty: as compiled.  One of BERT-Base on `TOKENS`
    tells whose each cycle was.
    """
    details = EncoderLayer(model=None if mode else model.lower(), seq=tokens)
    return Job(
        workload="a layer of BERT-Base" if mode else "encoder-layer",
        details=details,
        mode=mode,
        log=not mode and (model, tokens) == ("BERT-Base", TOKENS),
        array_cycles=_layer_cycles(model, tokens),
    )


def stack_job(layers: int, tokens: int) -> Job:
    """The run of so many layers of BERT-Base, one behind the other, on `base`."""
    return Job(
        workload="encoder",
        details=Encoder(model="bert-base", layers=layers, seq=tokens),
        array_cycles=layers * _layer_cycles("BERT-Base", tokens),
    )


def _layer_cycles(model: str, tokens: int) -> int:
    layer = layer_operators(MODELS[model], tokens)
    return sum(op.macs for op in layer if isinstance(op, Product)) // MACS_PER_CYCLE
