"""Functional models become functions; what synthesis for area does not use becomes nothing."""

from itertools import product

import pytest

from celosia.sim.export.silicon.cells.functions import STATE, read_model


def model(ports: str, gates: str, name: str = "lib__cell_1") -> str:
    """A functional model with the ports ``Y < A, B``."""
    outputs, inputs = (side.split() for side in ports.split("<"))
    declared = [
        *(f"    output {one};" for one in outputs),
        *(f"    input {one};" for one in inputs),
    ]
    head = f"// A comment.\nmodule {name} (\n    {', '.join(outputs + inputs)}\n);\n"
    return "\n".join([head, *declared, "    wire w; // a wire", "", gates, "endmodule\n"])


def truth(function: str, inputs) -> list[bool]:
    """The function's values, of all inputs in order."""
    words = function.replace("!", " not ").replace("*", " and ").replace("+", " or ")
    values = product([False, True], repeat=len(inputs))
    # Both of `^`'s sides are in parentheses or names: it binds as in Liberty.
    return [bool(eval(words, {}, dict(zip(inputs, each, strict=True)))) for each in values]


@pytest.mark.parametrize(
    ("gates", "meaning"),
    [
        ("nand g (Y, A, B);", lambda a, b, c: not (a and b)),
        ("nor g (w, A, B);  buf h (Y, w);", lambda a, b, c: not (a or b)),
        ("xnor g (Y, A, B);", lambda a, b, c: a == b),
        ("not g (w, A);\n    or h (Y, w, B, C);", lambda a, b, c: not a or b or c),
        ("lib__udp_mux_2to1 g (Y, A, B, C);", lambda a, b, c: b if c else a),
        ("lib__udp_mux_2to1_N g (Y, A, B, C);", lambda a, b, c: not (b if c else a)),
        ("lib__udp_mux_4to2 g (Y, A, B, A, B, B, C);", lambda a, b, c: b if b else a),
    ],
    ids=["nand", "nor", "xnor", "several", "mux", "inverting mux", "mux of four"],
)
def test_gates_are_folded(gates, meaning):
    lines = "\n".join(f"    {line.strip()}" for line in gates.replace(";  ", ";\n").splitlines())
    found = read_model(model("Y < A B C", lines))
    assert found is not None
    assert not found.clock
    expected = [bool(meaning(*each)) for each in product([False, True], repeat=3)]
    assert truth(found.functions["Y"], found.inputs) == expected


def test_a_flip_flop():
    gates = (
        "    lib__udp_dff$P `UNIT_DELAY dff0 (w, D, CLK);\n    not n (Q_N, w);\n    buf b (Q, w);"
    )
    found = read_model(model("Q Q_N < CLK D", gates))
    assert found is not None
    assert (found.clock, found.next_state) == ("CLK", "D")
    assert found.functions == {"Q": STATE, "Q_N": f"(!{STATE})"}


@pytest.mark.parametrize(
    "gates",
    [
        "    lib__udp_dlatch$P dlatch0 (Y, A, B);",
        "    lib__udp_dff$PR `UNIT_DELAY dff0 (Y, A, B, C);",
        "    lib__udp_mux_2to1 m (w, A, B, C);\n    lib__udp_dff$P dff0 (Y, w, C);",
        "    bufif0 g (Y, A, B);",
        "    pullup g (Y);",
        "    buf g (w, A);",
    ],
    ids=["latch", "reset", "enable", "tristate", "constant", "no driver"],
)
def test_what_is_not_used(gates):
    assert read_model(model("Y < A B C", gates)) is None


def test_what_is_no_model():
    assert read_model("`celldefine\n") is None
