"""Small exports of the catalog, recognized and quantized, each made once."""

from functools import cache

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.imported import imported_export
from celosia.lab.exports.writing.size import SMALL
from tests.support.quantized_graph import quantize_graph

TOKENS, BATCH = 16, 2


@cache
def imported(name, batch=BATCH, tokens=TOKENS):
    """An export behind `Import` and `Recognize`."""
    return imported_export(name, SMALL, batch=batch, tokens=tokens)


def recognized(name, tokens=TOKENS):
    """The float graph of an export behind all recognizers."""
    return imported(name, tokens=tokens).recognized.graph


def inputs(name, seed, tokens=TOKENS):
    """Seeded inputs of an export, those that its graph has."""
    drawn = EXPORTS[name].inputs(SMALL, seed, batch=BATCH, tokens=tokens)
    return {key: value for key, value in drawn.items() if key in recognized(name).inputs}


@cache
def quantized(name):
    """An export, quantized on seeds 1 to 8."""
    return quantize_graph(recognized(name), [inputs(name, seed) for seed in range(1, 9)])
