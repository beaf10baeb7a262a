"""Models of memories, statement by statement: what they do, and what for simulation only."""

import re

import pytest

from celosia.sim.export.models import ram_models
from celosia.sim.export.rams import Ram

DOUBLE = Ram(single_port=False, rows=16, bits=24, element_bits=8, reads=2)
SINGLE = Ram(single_port=True, rows=16, bits=24, element_bits=8)


def parts(ram):
    """The module of a memory without what is guarded, and that by the name of its guard."""
    text = ram_models([ram])
    text = re.sub(r"\s+", " ", text[text.index("\nmodule") :])
    guarded = dict(re.findall(r"`ifdef (\w+) (.*?) `endif", text))
    return re.sub(r"`ifdef .*?`endif", "", text), guarded


def test_what_is_read_while_it_is_written_is_inverted_only_where_that_is_asked_for():
    """Each port and element apart: elements that are not written are read as they are."""
    plain, guarded = parts(DOUBLE)
    assert list(guarded) == ["CELOSIA_PESSIMISTIC_RAMS"]
    assert "~" not in plain
    found = guarded["CELOSIA_PESSIMISTIC_RAMS"]
    assert "for (element = 0; element < 3; element = element + 1)" in found
    for port, low, address in ((0, 0, 0), (1, 24, 4)):
        assert (
            f"if (read_en[{port}] && write_en[element] "
            f"&& read_addr[{address} +: 4] == write_addr) "
            f"read_data[{low} + 8*element +: 8] <= ~write_data[8*element +: 8];"
        ) in found


def test_a_single_port_stops_where_it_is_read_and_written_in_one_cycle():
    plain, guarded = parts(SINGLE)
    assert list(guarded) == ["CELOSIA_ASSERTIONS"]
    assert "if (read_en && |write_en) begin" in guarded["CELOSIA_ASSERTIONS"]
    assert "$stop" not in plain


@pytest.mark.parametrize(
    ("ram", "reads"),
    [
        (SINGLE, ("if (read_en) read_data <= contents[addr];",)),
        (
            DOUBLE,
            (
                "if (read_en[0]) read_data[0 +: 24] <= contents[read_addr[0 +: 4]];",
                "if (read_en[1]) read_data[24 +: 24] <= contents[read_addr[4 +: 4]];",
            ),
        ),
    ],
    ids=["1rw", "2r1w"],
)
def test_rows_are_read_by_each_port_and_written_by_element(ram, reads):
    plain, _ = parts(ram)
    assert f"module {ram.name} (" in plain
    assert "reg [23:0] contents [0:15];" in plain
    for statement in reads:
        assert statement in plain
    place = "addr" if ram.single_port else "write_addr"
    assert (
        f"if (write_en[element]) contents[{place}][8*element +: 8] <= write_data[8*element +: 8];"
    ) in plain
