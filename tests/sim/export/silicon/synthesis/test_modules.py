"""Modules stand alone, with texts that do not tell where they stood."""

from celosia.sim.export.silicon.synthesis.modules import (
    TOP,
    VerilogModule,
    embedded,
    flattened,
    places,
    split_modules,
    standalone,
)

LEAF = """\
module {name} (clk, i, o);
  reg \\$auto$verilog_backend.cc:2355:dump_module${number} ;
  initial \\$auto$verilog_backend.cc:2355:dump_module${number} <= 0;
  input clk;
  wire clk;
  input [3:0] i;
  output o;
  assign o = ^i;
endmodule
"""

PARENT = """\
module top_of_all(clk, i, o);
  input clk;
  \\top.a  a (
    .clk(clk)
  );
  \\top.b  \\b.odd  (
    .clk(clk)
  );
  celosia_ram_1rw_2x2_2 rows (
    .clk(clk)
  );
endmodule
"""
TEXT = "// A head.\n\n" + "\n".join([
    PARENT,
    LEAF.format(name="\\top.a ", number=7),
    LEAF.format(name="\\top.b ", number=31),
])


def test_modules_and_their_instances():
    modules = split_modules(TEXT)
    assert list(modules) == ["top_of_all", "top.a", "top.b"]
    assert modules["top_of_all"].instances == [
        ("a", "top.a"),
        ("b.odd", "top.b"),
        ("rows", "celosia_ram_1rw_2x2_2"),
    ]
    assert not modules["top.a"].instances


def test_siblings_are_alike():
    modules = split_modules(TEXT)
    text, parts = standalone(modules["top.a"], modules)
    assert standalone(modules["top.b"], modules) == (text, parts)
    assert text.startswith(f"module {TOP} ")
    assert "dump_module" not in text
    assert not parts


def test_what_is_instantiated_is_an_interface():
    modules = split_modules(TEXT)
    text, parts = standalone(modules["top_of_all"], modules)
    assert "  part_0  a (\n" in text
    assert "  part_1  \\b.odd  (\n" in text
    assert "  celosia_ram_1rw_2x2_2 rows (\n" in text
    assert parts.count("endmodule") == 2
    assert "module part_1  (clk, i, o);\n  input clk;\n  input [3:0] i;\n  output o;\n" in parts
    assert "assign" not in parts


def test_only_a_change_of_the_interface_reaches_the_parent():
    def parent(old: str, new: str):
        modules = split_modules(TEXT.replace(old, new))
        return standalone(modules["top_of_all"], modules)

    same = parent("", "")
    assert parent("o = ^i", "o = &i") == same
    assert parent("[3:0]", "[4:0]") != same


def test_what_stood_alone_has_its_names_again():
    modules = split_modules(TEXT)
    parent = modules["top_of_all"]
    text, _ = standalone(parent, {**modules, "celosia_ram_1rw_2x2_2": modules["top.a"]})
    back = " ".join(embedded(f"/* Generated */\n\n{text}", parent).split())
    assert "module \\top_of_all (clk, i, o);" in back
    assert "\\top.a a ( .clk" in back
    assert "\\top.b \\b.odd ( .clk" in back
    assert "\\celosia_ram_1rw_2x2_2 rows ( .clk" in back


def unnamed(number: int) -> dict[str, VerilogModule]:
    """The modules where a value without a name crosses a border, as cell `number` of a design."""
    port = f"\\port${number}$2 "
    leaf = LEAF.format(name="\\top.a ", number=7).replace("output o", f"output {port}")
    parent = PARENT.replace(".clk(clk)", f".clk(clk),\n    .{port}({port})", 1)
    return split_modules(parent + leaf)


def test_numbers_of_cells_of_the_design_are_not_told():
    modules, others = unnamed(45), unnamed(678)
    for name in modules:
        assert standalone(modules[name], modules) == standalone(others[name], others)
    text, parts = standalone(modules["top_of_all"], modules)
    assert ".\\port$0 (\\port$0 )" in text
    assert "output \\port$0 ;" in parts


def test_numbers_of_cells_come_back_with_the_names():
    modules = unnamed(45)
    for module in modules.values():
        text, _ = standalone(module, modules)
        assert module.text.count("\\port$45$2 ") == embedded(text, module).count("\\port$45$2 ") > 0


def test_places():
    modules = split_modules(TEXT)
    assert list(places("top_of_all", modules)) == [
        ("", "top_of_all"),
        ("a", "top.a"),
        ("b.odd", "top.b"),
    ]


def test_a_design_as_one_text():
    modules = split_modules(TEXT + LEAF.format(name="\\nowhere ", number=1))
    ram = "module celosia_ram_1rw_2x2_2(clk);\n  input clk;\n  reg x;\nendmodule\n"
    text, parts = flattened("top_of_all", modules, split_modules(ram))
    assert list(split_modules(text)) == [TOP, "top.a", "top.b"]
    assert split_modules(text)[TOP].instances[-1] == ("rows", "part_2")
    assert parts == ram.replace("celosia_ram_1rw_2x2_2", "part_2 ").replace("  reg x;\n", "")
