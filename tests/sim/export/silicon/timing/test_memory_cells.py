"""Memories as cells of a Liberty file."""

from celosia.sim.export.models import ram_models
from celosia.sim.export.rams import Ram
from celosia.sim.export.silicon.timing.memory_cells import ACCESS_NS, SET_UP_NS, memory_cells


def test_each_model_is_a_cell():
    rams = [
        Ram(single_port=True, rows=64, bits=32, element_bits=8),
        Ram(single_port=False, rows=16, bits=8, element_bits=8, reads=2),
    ]
    text = memory_cells(ram_models(rams))
    assert text.count("cell(") == 2
    single, double = text.split("cell(celosia_ram_")[1:]
    assert single.startswith("1rw_64x32_8)")
    assert "pin(clk) { direction : input; clock : true;" in single
    assert "bus(addr) { bus_type : bits_6; direction : input;" in single
    assert "bus(write_en) { bus_type : bits_4; direction : input;" in single
    assert "bus(read_data) { bus_type : bits_16; direction : output;" in double
    assert single.count(f'rise_constraint(scalar) {{ values("{SET_UP_NS}"); }}') == 4
    assert f'cell_rise(scalar) {{ values("{ACCESS_NS}"); }}' in single
    assert "type(bits_16) { base_type : array; data_type : bit; bit_width : 16;" in text
    assert text.count("{") == text.count("}")
    # Without these OpenSTA refuses a library.
    for word in ("input_threshold", "output_threshold", "slew_lower", "slew_upper"):
        assert text.count(f"  {word}") == 2


def test_times_are_the_stated_ones():
    """docs/silicon.md names both; thresholds are those of OSU018."""
    text = memory_cells(
        ram_models([Ram(single_port=False, rows=4, bits=1, element_bits=1, reads=1)])
    )
    for words in (
        'cell_rise(scalar) { values("2.0"); }',
        'cell_fall(scalar) { values("2.0"); }',
        'rise_constraint(scalar) { values("0.5"); }',
        'fall_constraint(scalar) { values("0.5"); }',
        "timing_type : setup_rising;",
        "timing_type : rising_edge;",
        "input_threshold_pct_rise : 50;",
        "output_threshold_pct_fall : 50;",
        "slew_lower_threshold_pct_fall : 20;",
        "slew_upper_threshold_pct_rise : 80;",
        "bit_from : 1; bit_to : 0;",
    ):
        assert words in text


def test_no_memories():
    assert "cell(" not in memory_cells("")
