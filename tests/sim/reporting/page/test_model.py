"""The section about a model: figures that were made up, in the words of the page."""

import re
from typing import Any

from celosia.sim.reporting.page.model import model_section, model_tiles


def output(name: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "sqnr_db": 31.26,
        "exact_sqnr_db": 40.04,
        "all_rows_sqnr_db": 12.34,
        "cosine": 0.999876,
        "pooled_cosine": None,
        "top1": None,
        "rows": {"elements": False, "counted": 1200, "of": 1200},
        **more,
    }


def document(**more: Any) -> dict[str, Any]:
    predicted = {
        "accelerator_cycles": 600,
        "host_cycles": 400,
        "accelerator_time_share": 0.6,
        "host_nodes": [
            {"name": f"node{at}" * (at > 0), "operator": "Einsum", "cycles": 100 - at}
            for at in range(9)
        ],
    }
    return {
        "placement": {"accelerator_mac_share": 0.98765, "predicted": predicted},
        "outputs": [output("a"), output("b", sqnr_db=None), output("c")],
        "host": {"Einsum": 1000, "Add": 2},
        "notes": ["a mask was seen"],
        **more,
    }


def words(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))


def test_tiles_are_the_first_two_outputs_and_all_operators_of_the_host():
    tiles = [words(each) for each in model_tiles(document())]
    assert len(tiles) == 3
    for tile, parts in zip(
        tiles,
        [
            ("31.3 dB", "SQNR of a"),
            ("no difference", "SQNR of b"),
            ("1,002", "operators on the host"),
        ],
        strict=True,
    ):
        assert all(part in tile for part in parts)


def test_a_run_without_a_model_has_no_tiles():
    assert model_tiles({"outputs": []}) == []


def test_the_shares_are_those_of_the_accelerator():
    text = words(model_section(document()))
    said = "98.77% of the multiply-accumulates, and 60.00% of the predicted time, are the acc"
    assert said in text
    unknown = document(placement={"accelerator_mac_share": 1.0, "predicted": None})
    assert "100.00% of the multiply-accumulates are the acc" in words(model_section(unknown))
    assert "node of the host" not in model_section(unknown)


def test_nodes_of_the_host_have_their_share_of_all_predicted_cycles():
    text = words(model_section(document()))
    assert "On the host: 1,002 operators: 1000 Einsum, 2 Add." in text
    assert "Einsum 100 10.00%" in text  # The first has no name.
    assert "node7 93 9.30%" in text
    assert "node8" not in text


def test_one_operator_or_none():
    assert "On the host: 1 operator: 1 Add." in words(model_section(document(host={"Add": 1})))
    assert "The host computes nothing." in words(model_section(document(host={})))


def test_an_output_says_what_is_known_of_it():
    known = output("a", pooled_cosine=0.5, top1=0.25)
    text = words(model_section(document(outputs=[known])))
    for said in ("with exact functions 40.0 dB", "pooled cosine 0.50000", "same largest 25.00%"):
        assert said in text
    assert "counted 1,200 of 1,200 rows" in text
    assert "all:" not in text
    text = words(model_section(document(outputs=[output("a")])))
    assert "pooled cosine" not in text
    assert "same largest" not in text


def test_an_output_of_which_not_all_counts_says_what_all_would_be():
    rows = {"elements": True, "counted": 1199, "of": 1200}
    text = words(model_section(document(outputs=[output("a", rows=rows)])))
    assert "1,199 of 1,200 elements, those of tokens that somebody sees; all: 12.3 dB" in text


def test_a_note_and_a_name_are_escaped_where_they_must_be():
    text = model_section(document(outputs=[output("<b>")], notes=["first", "second"]))
    assert "&lt;b&gt;, beside the float graph" in text
    assert "Note: first" in text
    assert "Note: second" in text
