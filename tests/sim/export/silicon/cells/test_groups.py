"""Groups of Liberty files."""

import pytest

from celosia.sim.export.silicon.cells.groups import read_groups
from celosia.sim.export.silicon.cells.liberty import LibertyError

TEXT = """\
/* a comment { */
library (small) {
  time_unit : "1ns"; // another }
  capacitive_load_unit (1,pf);
  cell ("A1") {
    area : 12.5;
    values ( \\
      "1, 2", \\
      "3, 4");
    pin(A) { direction : input; }
    pin(Y) { direction : output; function : "(!A)"; }
  }
}
"""


def test_groups_attributes_and_numbers():
    library = read_groups(TEXT)
    assert (library.kind, library.name) == ("library", "small")
    assert library.values == {"time_unit": "1ns", "capacitive_load_unit": "1,pf"}
    (cell,) = library.all("cell")
    assert cell.name == "A1"
    assert cell.numbers("values") == [1, 2, 3, 4]
    assert cell.numbers("area") == [12.5]
    assert cell.numbers("nothing") == []
    assert [pin.name for pin in cell.all("pin")] == ["A", "Y"]
    assert [pin.values.get("function") for pin in cell.all("pin")] == [None, "(!A)"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not one group"),
        ("a (b) {", "not one group"),
        ("a (b) { } }", "closes nothing"),
        ("a (b) { } c (d) { }", "not one group"),
        ("a (b) { ??? }", "not read at '\\?\\?\\? }'"),
    ],
)
def test_bad_texts(text: str, problem: str):
    with pytest.raises(LibertyError, match=problem):
        read_groups(text)
