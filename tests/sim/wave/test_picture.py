"""Waveforms as pictures: values where the file has them, and names that are told apart."""

from xml.etree import ElementTree

import pytest

from celosia.sim.support.problems import InputError
from celosia.sim.wave.picture import wave_drawing

SVG = "{http://www.w3.org/2000/svg}"
FILE = """$timescale 100 ps $end
$scope module top $end
$var wire 1 a valid $end
$var wire 8 b data $end
$scope module wave $end
$var wire 16 c command $end
$upscope $end
$scope module inner $end
$var wire 1 d valid $end
$upscope $end
$upscope $end
$enddefinitions $end
#0
0a
b0 b
b0110100001101001 c
0d
#20
1a
b11111111 b
#30
0a
b0 c
"""


@pytest.fixture
def wave(tmp_path):
    path = tmp_path / "a.vcd"
    path.write_text(FILE)
    return path


def shown(drawing) -> tuple[list[str], list[str]]:
    """Titles of boxes, which are values, and the points of lines that are levels."""
    root = ElementTree.fromstring(str(drawing))
    titles = [each.text or "" for each in root.iter(f"{SVG}title")]
    lines = [
        e.get("points", "") for e in root.iter(f"{SVG}polyline") if e.get("stroke") != "#d9d9d9"
    ]
    return titles, lines


def test_bits_are_levels_and_all_else_is_its_value(wave):
    titles, (line,) = shown(wave_drawing(wave, ["top.valid", "data", "command"], range(0, 4)))
    assert titles == ["0", "ff", "hi"]
    points = [tuple(map(float, point.split(","))) for point in line.split()]
    low, high = points[0][1], points[2][1]
    assert low > high
    assert [y for _, y in points] == [low, low, high, high, low, low]
    left = points[0][0]
    assert [x - left for x, _ in points] == [0, 24, 24, 36, 36, 48]


def test_a_window_begins_with_what_was_there_before(wave):
    titles, (line,) = shown(wave_drawing(wave, ["top.valid", "data"], range(2, 3)))
    assert titles == ["ff"]
    assert len(line.split()) == 2


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("dada", "there is no signal dada.*data"),
        ("ata", "there is no signal ata.*data"),  # A name is a word, not its end.
        ("op.data", "there is no signal op.data"),
        ("valid", "valid is more than one signal: top.valid, top.inner.valid"),
    ],
)
def test_a_name_is_one_signal(wave, name, why):
    with pytest.raises(InputError, match=why):
        wave_drawing(wave, [name], range(4))


def test_a_file_that_is_no_waveform_is_refused(wave):
    for text in ("no waveform", FILE.replace("1a\n", "1z\n")):
        wave.write_text(text)
        with pytest.raises(InputError, match=r"a\.vcd: not a waveform"):
            wave_drawing(wave, ["data"], range(4))
