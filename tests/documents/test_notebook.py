"""The notebook from a matrix to a waveform runs, and shows what it says."""

from typing import Any

import pytest

from tests.test_references import ROOT

jupytext = pytest.importorskip("jupytext", reason="pip install -r requirements/documents.txt")
nbclient = pytest.importorskip("nbclient", reason="pip install -r requirements/documents.txt")
NOTEBOOK = ROOT / "docs/notebooks/matrix_to_waveform.py"


def shown(cell: Any) -> str:
    """What a cell shows: pictures and tables as HTML, all else as text."""
    parts = []
    for output in cell.outputs:
        data = output.get("data", {})
        parts.append(data.get("text/html") or data.get("text/plain") or output.get("text", ""))
    return "".join(parts)


def test_it_is_text_and_code_without_outputs():
    notebook = jupytext.read(NOTEBOOK)
    assert [cell.cell_type for cell in notebook.cells[:3]] == ["markdown", "code", "markdown"]
    assert notebook.cells[0].source.startswith("# From a matrix to RTL to a waveform")
    assert not any(shown(cell) for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.slow
def test_it_runs_and_shows_values_cycles_a_timeline_and_a_waveform():
    notebook = jupytext.read(NOTEBOOK)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    values, result, graph, program, outcome, timeline, wave = [
        text for cell in notebook.cells if cell.cell_type == "code" and (text := shown(cell))
    ]
    assert "array(" in values
    assert "<td>cycles of the run</td>" in result
    assert "<svg" in graph
    assert "scratchpad:" in graph
    assert "mvin dram=" in program
    assert "mvout dram=" in program
    assert "matmul on tiny (amaranth): right" in outcome
    assert "array: rows" in timeline
    assert "mvin dram=0x80000000" in wave
