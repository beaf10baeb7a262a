"""Numbers that documents say of the code: sentences, and where the code has their numbers."""

from importlib import import_module
from pathlib import Path

__all__ = ["differing"]

ROOT = Path(__file__).parents[2]


def differing(said: tuple[str, str, object, str]) -> str:
    """What is wrong with a document, a sentence of it, its number and the name that has it.

    The name is that of a module of the package, a colon, and a constant or an expression of
    constants in it.
    """
    document, sentence, number, name = said
    if " ".join(sentence.split()) not in " ".join((ROOT / document).read_text().split()):
        return f"{document} does not say {sentence!r}"
    module, _, expression = name.partition(":")
    found = eval(expression, vars(import_module(f"celosia.{module}")))
    return "" if found == number else f"{name} is {found!r}, and {document} says {number!r}"
