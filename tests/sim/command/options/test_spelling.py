"""Values of options that are none: a sentence, with what may be meant."""

import pytest

from celosia.sim.command.options.spelling import plain_message
from tests.support.command_line import SMALL, refused


def test_a_message_has_no_words_for_programmers():
    assert plain_message("Value error, 3 is odd") == "3 is odd"
    listed = "'sqare' is not one of 'round', 'square'."
    assert plain_message(f"Value error, {listed}") == f"{listed[:-1]}; did you mean square?"
    assert plain_message("'x' is not one of 'round', 'square'.").endswith("'square'.")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("'--seed': -1 is not 0 or more", "--seed -1"),
        ("'--seed': 1.5 is not a whole number", "--seed 1.5"),
        ("'--scale': x is not a number", "--scale x"),
    ],
)
def test_a_number_out_of_its_range_is_named(said, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(said, *SMALL, *words.split())


def test_rules_in_other_words_are_said_as_they_are():
    assert plain_message("Input should be less than or equal to 9", "10") == "10 is not 9 or less"
    assert plain_message("Input should be odd", "10") == "10 is not odd"
    assert plain_message("Input should be odd") == "Input should be odd"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("'verilatr' is not one of 'functional', 'amaranth', 'verilator'; did", "--sim verilatr"),
        ("'rign' is not one of 'stream', 'ring'; did you mean ring?", "--issue rign"),
        ("--stages squential: there are best, sequential, greedy, dp; did", "--stages squential"),
        ("or give a .toml file; did you mean small?", "--preset smal"),
        ("did you mean scratchpad_kib?", "--set scratchpad_kb=8"),
    ],
)
def test_a_value_that_is_misspelt_on_a_command_line(said, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = refused(said, *SMALL, *words.split())
    assert "Value error" not in result.output


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("did you mean silicon?", "bench silicn"),
        ("did you mean sky130?", "area --cells sky13"),
        ("did you mean core?", "verilog --top cor"),
        ("did you mean schedule?", "compile matmul --shape 4x4x4 --print-after shedule"),
        ("did you mean bert-base?", "run encoder-layer --seq 4 --model bert-bse"),
        ("did you mean tinyllama?", "run decoder --model tinylama"),
        ("did you mean minmax?", "run m.onnx --clip minmx"),
        ("did you mean tpe?", "tune matmul --shape 4x4x4 --storage log --strategy tp"),
        ("did you mean ecp5-85k?", "fpga --device ecp5-85"),
        ("did you mean decoder?", "survey --out out --only decodr"),
        ("did you mean ring?", "fuzz files --kind rng"),
    ],
)
def test_a_value_that_is_misspelt_elsewhere(said, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "Value error" not in refused(said, *words.split()).output
