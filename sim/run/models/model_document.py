"""The JSON documents of models: where nodes run, and what a run has shown."""

from math import isfinite
from typing import Any

from celosia.sim.run.models.model_run import ModelOutcome
from celosia.sim.run.models.time_share import TimeShare
from celosia.sw.frontend.nn.graph import split_origin
from celosia.sw.quantize.units.placement import Placement

__all__ = ["model_document", "placement_document"]


def model_document(outcome: ModelOutcome) -> dict[str, Any]:
    """The report of the only segment, or of all as programs of their own, and what models add."""
    report = outcome.report
    return report.document() | {
        "workload": report.setting.workload,
        "placement": placement_document(outcome.placement, outcome.time),
        "outputs": [
            {
                "name": each.name,
                "sqnr_db": _finite(each.sqnr_db),
                "exact_sqnr_db": _finite(each.exact_sqnr_db),
                "cosine": each.cosine,
                "top1": each.top1,
                "rows": {
                    "counted": each.counted.rows,
                    "of": each.counted.of,
                    "spans": [list(span) for span in each.counted.spans],
                    "elements": each.counted.elements,
                },
                "all_rows_sqnr_db": _finite(each.all_sqnr_db),
                "all_rows_cosine": each.all_cosine,
                "pooled_cosine": each.pooled_cosine,
            }
            for each in outcome.distances
        ],
        "saturated": dict(outcome.saturated),
        "host": dict(outcome.host),
        "notes": list(outcome.notes),
    }


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None


def placement_document(placement: Placement, time: TimeShare | None = None) -> dict[str, Any]:
    """The share of the accelerator, and where each node runs, for JSON documents."""
    nodes = [(*split_origin(node.origin), node) for node in placement.nodes]
    return {
        "accelerator_mac_share": placement.accelerator_mac_share,
        "predicted": None if time is None else _time_document(time),
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


def _time_document(time: TimeShare) -> dict[str, Any]:
    return {
        "accelerator_cycles": time.accelerator,
        "host_cycles": time.total - time.accelerator,
        "accelerator_time_share": time.accelerator_share,
        "host_nodes": [
            {"name": name, "operator": operator, "cycles": cycles}
            for (name, operator), cycles in (
                (split_origin(origin), cycles) for origin, cycles in time.host.items()
            )
        ],
    }
