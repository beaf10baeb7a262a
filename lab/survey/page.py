"""The page of the survey: its numbers and ours, with figures, in one file."""

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.lab.survey.charts import charts
from celosia.lab.survey.parts.numbers import number_text
from celosia.sim.reporting.page.figures import Figure
from celosia.sim.reporting.page.html import Below, definition_table, paragraph, section, table
from celosia.sim.reporting.page.page import assemble

__all__ = ["survey_page"]

_HEADS = ("number", "survey", "ours", "off by")

Document = Mapping[str, Any]


def survey_page(document: Document) -> str:
    """The page of a survey's `document`.  Raises `EnvironmentProblem` without Plotly."""
    drawn = {item["id"]: charts(item) for item in document["items"]}
    return assemble(
        title="The survey's case study, and Celosia",
        lead="Each number of Full Stack Optimization of Transformer Inference (Kim et al., "
        "arXiv 2302.14017) that could be made again, with ours beside it and how ours was "
        "obtained.",
        sections=[
            *((item["id"], item["id"], _section(item, drawn)) for item in document["items"]),
            ("setting", "Versions", _versions(document)),
        ],
        data={
            "figures": {
                f"{name}-{number}": figure
                for name, figures in drawn.items()
                for number, figure in enumerate(figures)
            },
            "timeline": None,
        },
    )


def _section(item: Document, drawn: Mapping[str, Sequence[Figure]]) -> str:
    body = [paragraph(f"In the survey: {item['where']}.", "note")]
    if item["missing"]:
        body.append(paragraph(f"Missing: {item['missing']}."))
    body += [paragraph(note) for note in item["notes"]]
    for number, _ in enumerate(drawn[item["id"]]):
        body.append(f'<div class="figure" id="figure-{item["id"]}-{number}"></div>')
    if item["values"]:
        alike = _alike(item["values"])
        if alike:
            body.append(paragraph(f"All below: {_settings(alike)}.", "note"))
        body.append(table(_HEADS, [_row(value, alike) for value in item["values"]]))
    return section(item["id"], item["title"], *body, long=True)


def _alike(values: Sequence[Document]) -> Mapping[str, Any]:
    """The settings that all values have."""
    first, *others = [value["settings"] for value in values]
    missing = object()
    return {
        name: setting
        for name, setting in first.items()
        if all(each.get(name, missing) == setting for each in others)
    }


def _settings(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {word}" for name, word in settings.items())


def _row(value: Document, alike: Mapping[str, Any]) -> Sequence[object]:
    off = value["difference"]
    own = {name: word for name, word in value["settings"].items() if name not in alike}
    netlist = f"netlist {value['netlist'][:8]}" if value["netlist"] else ""
    small = "; ".join(filter(None, (value["kind"], _settings(own), netlist, value["note"])))
    return (
        Below(value["name"], small),
        number_text(value["paper"]),
        number_text(value["ours"]),
        "-" if off is None else f"{100 * off:+z.2f} %",
    )


def _versions(document: Document) -> str:
    rows = [
        ("command", " ".join(document["command_line"])),
        ("commit", document["commit"]),
        *document["versions"].items(),
    ]
    return section("setting", "Versions, and how to run it again", definition_table(rows))
