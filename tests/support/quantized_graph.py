"""Graphs of one size, calibrated and instantiated."""

from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.quantized import instantiate

__all__ = ["quantize_graph"]


def quantize_graph(graph, samples, **options):
    """The integers of `graph`, which is calibrated on `samples` of its inputs."""
    return instantiate(graph, calibrate(lambda _: graph, samples, **options))
