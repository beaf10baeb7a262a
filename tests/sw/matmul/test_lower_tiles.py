"""Tile programs as commands."""

from dataclasses import replace

from celosia.isa.operations.loops import expand
from celosia.isa.presets import PRESETS
from celosia.sw.driver.assembly import format_command
from celosia.sw.ir.matmul import MatMul, MatMulAddresses
from celosia.sw.ir.tile import Load, Multiply, Piece, Store, TileProgram
from celosia.sw.matmul.lower_tiles import lower_tiles

A, B, BIAS = Piece("a", 1, 2, 2, 5), Piece("b", 2, 4, 5, 3), Piece("bias", 0, 4, 1, 3)
ADDRESSES = MatMulAddresses(a=0x8000_0000, b=0x8000_1000, c=0x8000_2000, bias=0x8000_3000)


def lowered(**form):
    problem = MatMul(m=3, n=7, k=7, bias=True, **form)
    ops = (
        Load(A, 8),
        Load(B, 40),
        Load(BIAS, 6),
        Multiply(1, 2, 4, 3, 6, 1, A, B, 9),
        Store(1, 2, 4, 3, 9, BIAS),
        Store(1, 2, 4, 3, 9, BIAS),
    )
    program = TileProgram(problem, PRESETS["tiny"], ops, {"a": 2, "b": 8, "c": 2})
    return [format_command(command) for command in lower_tiles(program, ADDRESSES)]


def test_the_commands_of_a_scaled_product():
    assert lowered(scale=0.5, relu=True, a_unsigned=True) == [
        "config_ex a_unsigned=1",
        "config_ld block_stride=2 stride=7",
        "config_ld set=1 block_stride=8 stride=7",
        "config_st activation=1 stride=7 scale=0.5",
        "mvin dram=0x80000009 local=sp[8] local_cols=5 local_rows=2",
        "mvin2 dram=0x80001012 local=sp[40] local_cols=3 local_rows=5",
        "mvin_param dram=0x80003010 row=6 count=3",
        # Column 6 of A is the first of the second block of its piece; row 6 of B is its fifth.
        "preload b=sp[44] b_cols=3 b_rows=1 c=acc[9]+accumulate c_cols=3 c_rows=2",
        "compute_preloaded a=sp[10] a_cols=1 a_rows=2 d=none",
        "config_drain bias=1 bias_row=6 block_stride=2",
        "mvout dram=0x8000200b local=acc[9] local_cols=3 local_rows=2",
        "mvout dram=0x8000200b local=acc[9] local_cols=3 local_rows=2",
    ]


def test_raw_results_leave_full():
    lines = lowered()
    assert lines[3] == "config_st stride=28"
    assert lines[-1] == "mvout dram=0x8000202c local=acc[9]+full local_cols=3 local_rows=2"


def test_nests_are_one_command_each_where_it_exists():
    problem, config = MatMul(m=1, n=12, k=8), PRESETS["tiny"]
    a, b = Piece("a", 0, 0, 1, 8), Piece("b", 0, 0, 8, 12)
    tiles = [Multiply(0, 1, col, 4, k, 4, a, b, col // 4) for k in (0, 4) for col in (0, 4, 8)]
    ops = (Load(a, 0), Load(b, 32), *tiles, Store(0, 1, 0, 12, 0))
    program = TileProgram(problem, config, ops, {"a": 1, "b": 8, "c": 1})
    plain, short = (lower_tiles(program, ADDRESSES, loops=loops) for loops in (False, True))
    lines = [format_command(command) for command in short]
    assert lines[6:9] == [
        "config_products w_column=8 c_column=1",
        "products w=32 overwrite=1 rows=1 k=1 pieces=1 columns=3 last_depth=4 last_cols=4",
        "products a=1 w=36 rows=1 k=1 pieces=1 columns=3 last_depth=4 last_cols=4",
    ]
    assert tuple(command for _, command in expand(short, config)) == plain
    without = replace(program, config=config.with_values({"loop_entries": 0}))
    assert lower_tiles(without, ADDRESSES, loops=True) == plain
