"""Writes the generated documents, or says which ones are out of date."""

from pathlib import Path

from celosia.isa.documents.document import generate

__all__ = ["write_documents"]


def write_documents(root: Path, check: bool = False) -> list[str]:
    """Bring the generated documents below `root` up to date.

    Returns the paths, from `root`, of those that were not; with `check`, they stay as they are.
    """
    stale = []
    for name, text in generate().items():
        path = root / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    return stale
