"""The documents that are generated from what the laboratory measured."""

from celosia.lab.survey.parts.text import survey_text
from celosia.sim.support.checkout import checkout_root

__all__ = ["documents"]


def documents() -> dict[str, str]:
    """The text of each, by its path from the root of the repository.

    Raises `InputError` outside of a checkout.
    """
    return {"docs/survey.md": survey_text(checkout_root())}
