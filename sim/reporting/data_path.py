"""The data path as a picture: blocks of the hardware that lead to their files, and what flows."""

from dataclasses import dataclass
from typing import Final

from celosia.isa.documents.svg import LINE, Drawing

__all__ = ["BLOCKS", "Block", "data_path"]


@dataclass(frozen=True)
class Block:
    """A box: where it stands on the grid, what it says, and the file that it leads to."""

    column: float
    row: float
    title: str
    says: str
    file: str


BLOCKS: Final = {
    "host": Block(0, 0, "host", "ring, registers", "hw/host/top.py"),
    "loops": Block(1, 0, "loops", "REPEAT, PRODUCTS", "hw/loops/engine.py"),
    "decoder": Block(2, 0, "decode", "operations", "hw/decode/decoder.py"),
    "issue": Block(3, 0, "issue", "hazards, queues", "hw/issue/issue.py"),
    "tokens": Block(4, 0, "tokens", "loads wait for stores", "hw/issue/tokens.py"),
    "owners": Block(5, 0, "owners", "whose each cycle is", "hw/observe/owners.py"),
    "load": Block(0, 1.3, "load", "addresses of rows", "hw/load/path.py"),
    "execute": Block(2, 1.3, "execute", "waves of tiles", "hw/execute/path.py"),
    "transform": Block(4, 1.3, "transform", "rows through lanes", "hw/transform/path.py"),
    "store": Block(5, 1.3, "store", "rows to memory", "hw/store/path.py"),
    "reads": Block(0, 2.6, "bus: reads", "from DRAM", "hw/bus/read_arbiter.py"),
    "scratchpad": Block(1, 2.6, "scratchpad", "int8, int16", "hw/memory/scratchpad.py"),
    "array": Block(2, 2.6, "systolic array", "skew, transpose", "hw/execute/array.py"),
    "accumulator": Block(3, 2.6, "accumulator", "int32, adds", "hw/memory/accumulator.py"),
    "lanes": Block(4, 2.6, "lanes", "scale, softmax, GELU", "hw/vector/lanes.py"),
    "writes": Block(5, 2.6, "bus: writes", "to DRAM", "hw/store/writer.py"),
    "parameters": Block(2, 3.6, "parameters", "of columns", "hw/memory/parameters.py"),
}
"""The blocks by name: those of the top are named as `hw/accelerator.py` names them."""

_ALONG: Final = (
    *(("host", "loops"), ("loops", "decoder"), ("decoder", "issue")),
    *(("reads", "scratchpad"), ("scratchpad", "array"), ("array", "accumulator")),
    *(("accumulator", "lanes"), ("lanes", "writes")),
)
"""What flows to the right: commands above, rows below."""
_DOWN: Final = ("load", "execute", "transform", "store")
"""The paths that `issue` gives operations to."""
_DRIVEN: Final = {"load": "reads", "execute": "array", "transform": "lanes", "store": "writes"}

_WIDTH: Final = 164
_HEIGHT: Final = 2 * LINE + 10
_PITCH: Final = 194, 76
"""From one box to the next, along and down."""
_EDGE: Final = 12


def data_path(root: str) -> Drawing:
    """The picture, whose links lead to files below `root`."""
    drawing = Drawing()
    for begin, end in _ALONG:
        drawing.line([_side(begin, 1, 0.5), _side(end, 0, 0.5)], arrow=True)
    x, y = _side("issue", 0.5, 1)
    drawing.line([(x, y), (x, y + 22)])
    ends = [_side(name, 0.5, 0) for name in _DOWN]
    drawing.line([(ends[0][0], y + 22), (ends[-1][0], y + 22)])
    for end in ends:
        drawing.line([(end[0], y + 22), end], arrow=True)
    for begin, end in _DRIVEN.items():
        drawing.line([_side(begin, 0.5, 1), _side(end, 0.5, 0)], arrow=True)
    drawing.line([_side("tokens", 0, 0.5), _side("issue", 1, 0.5)], arrow=True)
    drawing.line([_side("reads", 0.5, 1), _corner("reads", "parameters")])
    drawing.line([_corner("reads", "parameters"), _side("parameters", 0, 0.5)], arrow=True)
    drawing.line([_side("parameters", 1, 0.5), _corner("lanes", "parameters", 0.4)])
    drawing.line([_corner("lanes", "parameters", 0.4), _side("lanes", 0.4, 1)], arrow=True)
    _back(drawing)
    for block in BLOCKS.values():
        left, top = _place(block)
        link, title = f"{root}{block.file}", block.file
        drawing.box(left, top, _WIDTH, _HEIGHT, fill="#eaf3fa", title=title, link=link)
        middle = left + _WIDTH / 2
        drawing.text(middle, top + LINE, block.title, middle=True, bold=True)
        drawing.text(middle, top + 2 * LINE, block.says, middle=True)
    return drawing


def _back(drawing: Drawing) -> None:
    """Draw results that stay on the chip: from the lanes back to the scratchpad, below all."""
    begin, end = _side("lanes", 0.7, 1), _side("scratchpad", 0.5, 1)
    bottom = _side("parameters", 0, 1)[1] + 18
    drawing.line([begin, (begin[0], bottom), (end[0], bottom), end], arrow=True)
    drawing.text(end[0] + 8, bottom - 5, "results that stay on the chip")


def _place(block: Block) -> tuple[float, float]:
    return _EDGE + block.column * _PITCH[0], _EDGE + block.row * _PITCH[1]


def _side(name: str, along: float, down: float) -> tuple[float, float]:
    """A place of a box: 0 is its left or its upper edge, 1 the right or the lower one."""
    left, top = _place(BLOCKS[name])
    return left + along * _WIDTH, top + down * _HEIGHT


def _corner(above: str, beside: str, along: float = 0.5) -> tuple[float, float]:
    return _side(above, along, 0)[0], _side(beside, 0, 0.5)[1]
