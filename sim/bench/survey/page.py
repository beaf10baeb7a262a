"""The page of the survey: its numbers and ours, with figures, in one file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from celosia.sim.bench.survey.parts.numbers import number_text
from celosia.sim.reporting.page.figures import Figure, layout
from celosia.sim.reporting.page.html import definition_table, paragraph, section, table
from celosia.sim.reporting.page.page import assemble
from celosia.sim.reporting.page.palette import QUEUE_COLORS

__all__ = ["survey_page"]

_THEIRS, _OURS = QUEUE_COLORS["load"], QUEUE_COLORS["execute"]
_ROW = 44
_FRAME = 130
_HEADS = ("number", "survey", "ours", "difference", "how", "setting", "note")

Document = Mapping[str, Any]


def survey_page(document: Document) -> str:
    """The page of a survey's `document`.  Raises `EnvironmentProblem` without Plotly."""
    drawn = {item["id"]: figure for item in document["items"] if (figure := _figure(item))}
    return assemble(
        title="The survey's case study, and Celosia",
        lead="Each number of Full Stack Optimization of Transformer Inference (Kim et al., "
        "arXiv 2302.14017) that could be made again, with ours beside it and how ours was "
        "obtained.",
        sections=[
            *((item["id"], item["id"], _section(item, drawn)) for item in document["items"]),
            ("setting", "Versions", _versions(document)),
        ],
        data={"figures": drawn, "timeline": None},
    )


def _section(item: Document, drawn: Mapping[str, Figure]) -> str:
    body = [paragraph(f"In the survey: {item['where']}.", "note")]
    if item["missing"]:
        body.append(paragraph(f"Missing: {item['missing']}."))
    body += [paragraph(note) for note in item["notes"]]
    if item["id"] in drawn:
        body.append(f'<div class="figure" id="figure-{item["id"]}"></div>')
    if item["values"]:
        body.append(table(_HEADS, [_row(value) for value in item["values"]]))
    return section(item["id"], item["title"], *body, long=True)


def _row(value: Document) -> Sequence[object]:
    off = value["difference"]
    setting = " ".join(f"{name}={word}" for name, word in value["settings"].items())
    if value["netlist"]:
        setting += f" netlist={value['netlist'][:8]}"
    return (
        value["name"],
        number_text(value["paper"]),
        number_text(value["ours"]),
        "-" if off is None else f"{100 * off:+.2f} %",
        value["kind"],
        setting,
        value["note"],
    )


def _figure(item: Document) -> Figure | None:
    """Bars of the survey's numbers and ours, where there are both."""
    pairs = [each for each in item["values"] if each["paper"] and each["ours"] is not None]
    if not pairs:
        return None
    names = [each["name"] for each in pairs]
    values = [abs(each[key]) for each in pairs for key in ("paper", "ours") if each[key]]
    kind = "log" if max(values) > 50 * min(values) else "linear"
    return {
        "data": list(_bars(pairs, names)),
        "layout": layout(
            height=_FRAME + _ROW * len(names),
            barmode="group",
            xaxis={"type": kind},
            yaxis={"autorange": "reversed", "type": "category"},
        ),
    }


def _bars(pairs: Sequence[Document], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for label, key, color in (("survey", "paper", _THEIRS), ("ours", "ours", _OURS)):
        yield {
            "type": "bar",
            "orientation": "h",
            "name": label,
            "y": list(names),
            "x": [each[key] for each in pairs],
            "marker": {"color": color, "pattern": {"shape": "/" if key == "paper" else ""}},
            "hovertemplate": f"%{{y}}: %{{x:,.4~g}}<extra>{label}</extra>",
        }


def _versions(document: Document) -> str:
    rows = [
        ("command", " ".join(document["command_line"])),
        ("commit", document["commit"]),
        *document["versions"].items(),
    ]
    return section("setting", "Versions, and how to run it again", definition_table(rows))
