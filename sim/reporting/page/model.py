"""The section of a report's page about a model: how far it is from float, and the host's part."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from celosia.sim.reporting.page.html import Name, definition_table, paragraph, section, table, tile
from celosia.sim.support.words import counted

__all__ = ["model_section", "model_tiles"]

Document = Mapping[str, Any]


def model_tiles(document: Document) -> list[str]:
    """The figures of a model that matter: how far it is from float, and what the host does."""
    if "placement" not in document:
        return []
    tiles = [
        tile(_decibels(each["sqnr_db"]), f"SQNR of {each['name']}")
        for each in document["outputs"][:2]
    ]
    return [*tiles, tile(f"{sum(document['host'].values()):,}", "operators on the host")]


def model_section(document: Document) -> str:
    """How far its outputs are from float, what the host computes, and the notes of the run."""
    placement = document["placement"]
    share = f"{placement['accelerator_mac_share']:.2%} of the multiply-accumulates"
    predicted = placement["predicted"]
    if predicted is not None:
        share += f", and {predicted['accelerator_time_share']:.2%} of the predicted time,"
    body = []
    for each in document["outputs"]:
        heading = f"<h3>{escape(each['name'])}, beside the float graph</h3>"
        body.append(heading + definition_table(_output(each)))
    body.append(paragraph(f"{share} are the accelerator's."))
    body += _host(document, predicted)
    body += [paragraph(f"Note: {note}", "note") for note in document["notes"]]
    return section("model", "The model", *body, long=True)


def _host(document: Document, predicted: Document | None) -> list[str]:
    """The operators of the host, and which of its nodes take time."""
    host = document["host"]
    if not host:
        return [paragraph("The host computes nothing.")]
    kinds = ", ".join(f"{count} {op}" for op, count in host.items())
    body = [paragraph(f"On the host: {counted(sum(host.values()), 'operator')}: {kinds}.")]
    if predicted is not None and predicted["host_nodes"]:
        whole = predicted["accelerator_cycles"] + predicted["host_cycles"]
        rows = [
            (
                Name(node["name"] or node["operator"]),
                node["cycles"],
                f"{node['cycles'] / whole:.2%}",
            )
            for node in predicted["host_nodes"][:8]
        ]
        body.append(table(("node of the host", "predicted cycles", "of the time"), rows))
    return body


def _output(each: Document) -> Iterator[tuple[str, str]]:
    """What is known of an output, by name."""
    rows = each["rows"]
    yield "SQNR", _decibels(each["sqnr_db"])
    yield "with exact functions", _decibels(each["exact_sqnr_db"])
    yield "cosine", f"{each['cosine']:.5f}"
    if each["pooled_cosine"] is not None:
        yield "pooled cosine", f"{each['pooled_cosine']:.5f}"
    if each["top1"] is not None:
        yield "same largest", f"{each['top1']:.2%}"
    kind = "elements" if rows["elements"] else "rows"
    text = f"{rows['counted']:,} of {rows['of']:,} {kind}"
    if rows["counted"] < rows["of"]:
        text += f", those of tokens that somebody sees; all: {_decibels(each['all_rows_sqnr_db'])}"
    yield "counted", text


def _decibels(value: float | None) -> str:
    return "no difference" if value is None else f"{value:.1f} dB"
