"""Where the nodes of a model run, read again."""

from collections.abc import Mapping
from typing import Any

from celosia.sw.frontend.nn.graph import join_origin
from celosia.sw.quantize.units.placement import PlacedNode, Placement, Where

__all__ = ["read_placement"]


def read_placement(found: Mapping[str, Any]) -> Placement:
    """The placement that a document has.

    Raises `KeyError`, `TypeError` or `ValueError` for what is none.
    """
    return Placement(
        tuple(
            PlacedNode(
                join_origin(str(node["name"]), str(node["operator"])),
                Where(node["where"]),
                str(node["reason"]),
                int(node["macs"]),
            )
            for node in found["nodes"]
        )
    )
