"""The one list of functions from graphs to graphs: recognizers, then substitutions."""

from typing import Any, Final

from celosia.lab.substitute.floats.table import FLOAT_SUBSTITUTIONS
from celosia.lab.substitute.integers.table import SUBSTITUTIONS
from celosia.sw.frontend.recognize.recognize import PASSES
from celosia.sw.frontend.recognize.rewrite import FLOAT
from celosia.sw.rewriting.engine import Rule

__all__ = ["RULES"]

_RECOGNIZERS: Final = tuple(
    Rule(
        name=name,
        summary=(find.__doc__ or "").partition("\n")[0],
        level=FLOAT,
        find=find,
        repeats=False,
    )
    for name, find in PASSES.items()
)

RULES: Final[dict[str, Rule[Any, Any, Any]]] = {
    rule.name: rule for rule in (*_RECOGNIZERS, *FLOAT_SUBSTITUTIONS, *SUBSTITUTIONS)
}
"""Every rule by its name."""
