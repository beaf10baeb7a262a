"""Writes the generated documents, or says which ones are out of date."""

from importlib import import_module
from pathlib import Path

from celosia.isa.documents.document import generate
from celosia.sim.support.extensions import extensions
from celosia.sim.support.extras import import_extra

__all__ = ["documents", "write_documents"]


def documents() -> dict[str, str]:
    """The text of every generated document, by its path from the root of the repository.

    Raises `InputError` outside of a checkout.
    """
    page = import_extra("celosia.sw.frontend.importer.page", "onnx")
    # Loads Amaranth, which only who prints needs.
    reports = import_module("celosia.sim.command.json_page")
    lanes = import_module("celosia.sim.export.modes")
    picture = import_module("celosia.sim.reporting.data_path")
    texts = {
        **generate(),
        "docs/lanes.md": lanes.mode_page(),
        "docs/operators.md": page.operator_page(),
        "docs/json.md": reports.json_page(),
        "docs/images/data-path.svg": str(picture.data_path("../../")),
        "docs/report.schema.json": reports.json_schema(),
    }
    for more in extensions("documents").values():
        texts |= more()
    return texts


def write_documents(root: Path, check: bool = False) -> list[str]:
    """Bring the generated documents below `root` up to date.

    Returns the paths, from `root`, of those that were not; with `check`, they stay as they are.
    """
    stale = []
    for name, text in documents().items():
        path = root / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    return stale
