"""Where the nodes of a model run, as a JSON document."""

from collections.abc import Mapping
from typing import Any

from celosia.sw.frontend.nn.graph import split_origin
from celosia.sw.quantize.units.placement import PlacedNode, Placement, Where

__all__ = ["placement_document", "read_placement"]


def placement_document(
    placement: Placement, predicted: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The share of the accelerator, where each node runs, and the time that is `predicted`."""
    nodes = [(*split_origin(node.origin), node) for node in placement.nodes]
    return {
        "accelerator_mac_share": placement.accelerator_mac_share,
        "predicted": predicted,
        "nodes": [
            {
                "name": name,
                "operator": operator,
                "where": str(node.where),
                "reason": node.reason,
                "macs": node.macs,
            }
            for name, operator, node in nodes
        ],
    }


def read_placement(found: Mapping[str, Any]) -> Placement:
    """The placement that a document has.

    Raises `KeyError`, `TypeError` or `ValueError` for what is none.
    """
    return Placement(
        tuple(
            PlacedNode(
                f"{node['name']} ({node['operator']})",
                Where(node["where"]),
                str(node["reason"]),
                int(node["macs"]),
            )
            for node in found["nodes"]
        )
    )
