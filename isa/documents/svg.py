"""Drawings as SVG, piece by piece; every text is escaped, and nothing of another file is needed."""

from html import escape
from typing import Final

__all__ = ["CHARACTER", "LINE", "Drawing", "beneath"]

CHARACTER: Final = 7.3
"""Width of a character of a drawing's text, in pixels: that of a monospaced letter of 12."""
LINE: Final = 16
"""Height of a line of text in pixels."""

_INK: Final = "#1a1a1a"
_FONT: Final = "font-family='ui-monospace, monospace' font-size='12'"
_ARROW: Final = (
    "<defs><marker id='arrow' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='8' markerHeight='8' "
    f"orient='auto'><path d='M0,0 L8,4 L0,8 z' fill='{_INK}'/></marker></defs>"
)


class Drawing:
    """Rectangles, lines and texts on white, one over the other as they were drawn.

    Places and sizes are in pixels, from the upper left.
    """

    def __init__(self) -> None:
        self.width = 0.0
        self.height = 0.0
        self.pieces: list[str] = []

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = "#ffffff",
        edge: str = _INK,
        title: str = "",
        link: str = "",
    ) -> None:
        """A rectangle; a pointer over it shows `title`, and a click on it leads to `link`."""
        told = f"<title>{escape(title)}</title>" if title else ""
        piece = (
            f"<rect x='{x:g}' y='{y:g}' width='{width:g}' height='{height:g}' rx='2' "
            f"fill='{escape(fill)}' stroke='{escape(edge)}'>{told}</rect>"
        )
        self._add(f"<a href='{escape(link)}'>{piece}</a>" if link else piece, x + width, y + height)

    def text(
        self, x: float, y: float, text: str, *, middle: bool = False, bold: bool = False
    ) -> None:
        """A line of text whose letters stand on `y`; in the middle, `x` is the middle of it."""
        anchor = " text-anchor='middle'" if middle else ""
        weight = " font-weight='bold'" if bold else ""
        end = x + len(text) * CHARACTER / (2 if middle else 1)
        self._add(f"<text x='{x:g}' y='{y:g}'{anchor}{weight}>{escape(text)}</text>", end, y + 4)

    def line(
        self, points: list[tuple[float, float]], *, arrow: bool = False, color: str = _INK
    ) -> None:
        """A line through `points`, with an arrow at its end if there is to be one."""
        places = " ".join(f"{x:g},{y:g}" for x, y in points)
        head = " marker-end='url(#arrow)'" if arrow else ""
        piece = f"<polyline points='{places}' fill='none' stroke='{escape(color)}'{head}/>"
        self._add(piece, max(x for x, _ in points), max(y for _, y in points))

    def _add(self, piece: str, right: float, bottom: float) -> None:
        self.pieces.append(piece)
        self.width, self.height = max(self.width, right), max(self.height, bottom)

    def _repr_html_(self) -> str:
        """The drawing, for notebooks."""
        return str(self)

    def __str__(self) -> str:
        """The drawing as the text of a file."""
        width, height = self.width + 8, self.height + 8
        return "\n".join((
            f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:g}' height='{height:g}' "
            f"viewBox='0 0 {width:g} {height:g}' role='img' {_FONT} fill='{_INK}'>",
            _ARROW,
            f"<rect width='{width:g}' height='{height:g}' fill='#ffffff'/>",
            *self.pieces,
            "</svg>\n",
        ))


def beneath(drawings: list[Drawing], space: float = 24) -> Drawing:
    """One drawing with `drawings` below each other."""
    whole = Drawing()
    for each in drawings:
        top = whole.height + (space if whole.pieces else 0)
        whole.pieces += [f"<g transform='translate(0 {top:g})'>", *each.pieces, "</g>"]
        whole.width, whole.height = max(whole.width, each.width), top + each.height
    return whole
