"""How numbers of the survey are written for people."""

__all__ = ["number_text"]


def number_text(value: float | None) -> str:
    """A number with four digits that count; of a large one all before the point; None is ``-``."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
