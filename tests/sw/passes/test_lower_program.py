"""Operations to commands: what is configured, when, and what loads wait for."""

from typing import Any

import pytest

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import INSTRUCTIONS, Command, Function
from celosia.isa.operations.loops import expand
from celosia.sw.driver.assembly import format_command
from celosia.sw.ir.graph import Tensor, View
from celosia.sw.ir.program import (
    Drain,
    Load,
    LoadParameters,
    LocalRows,
    Op,
    Products,
    Space,
    Store,
    Transform,
)
from celosia.sw.passes.lower_program import Lowering
from tests.support.levels import CONFIGS
from tests.support.nests import product

TINY = CONFIGS["tiny"]
TENSORS = {
    tensor.name: tensor
    for tensor in (
        Tensor("x", "int8", 20, 30),
        Tensor("wide", "int16", 20, 30),
        Tensor("sums", "int32", 20, 30),
        Tensor("bias", "int32", 1, 30),
    )
}
ADDRESSES = {"x": 0x1000, "wide": 0x2000, "sums": 0x4000, "bias": 0x8000}
SCRATCHPAD, ACCUMULATOR, PARAMETERS = Space.SCRATCHPAD, Space.ACCUMULATOR, Space.PARAMETERS


def lowering(config: AcceleratorConfig, **how: bool) -> Lowering:
    return Lowering(config=config, tensors=TENSORS, addresses=ADDRESSES, **how)


def decoded(command: Command) -> tuple[str, dict[str, Any]]:
    known = next(one for one in INSTRUCTIONS.values() if one.matches(command))
    return known.name, known.decode(command)


def lowered(*ops: Op) -> list[list[tuple[str, dict[str, Any]]]]:
    """Commands of each of `ops`; those before all are left out."""
    commands = list(lowering(TINY).program(ops))
    begin = [decoded(one)[0] for one in commands[0]]
    stores = any(isinstance(op, Store) for op in ops)
    assert begin == ["fence", "config_token", *["config_drain", "config_st"] * stores]
    return [[decoded(one) for one in some] for some in commands[1:]]


def names(*ops: Op) -> list[list[str]]:
    return [[name for name, _ in some] for some in lowered(*ops)]


def scratchpad(row: int, rows: int = 2, blocks: int = 1, pitch: int = 2) -> LocalRows:
    return LocalRows(SCRATCHPAD, row, rows, blocks, pitch)


def accumulator(row: int, rows: int = 2, blocks: int = 1, pitch: int = 2) -> LocalRows:
    return LocalRows(ACCUMULATOR, row, rows, blocks, pitch)


def load(after: int = 0, tensor: str = "x", pitch: int = 2) -> Load:
    return Load(View(tensor, 3, 5, 2, 4), scratchpad(7, pitch=pitch), after)


STORE = Store(View("x", 3, 5, 2, 4), scratchpad(7))


def test_every_store_signals():
    start, *_ = lowering(TINY).program([])
    assert decoded(start[1]) == (
        "config_token",
        decoded(start[1])[1] | {"signal": 1, "signal_id": 0, "wait": 0},
    )


def test_a_load_of_a_rectangle():
    (((_, config), (name, mvin)),) = lowered(load(tensor="wide", pitch=9))
    assert name == "mvin"
    assert (config["set"], config["stride"], config["block_stride"]) == (0, 60, 9)
    assert mvin["dram"] == 0x2000 + 3 * 60 + 5 * 2
    assert (mvin["local"], mvin["local_rows"], mvin["local_cols"]) == (7, 2, 8)


def test_int32_in_the_accumulator_are_counted_as_elements():
    ((_, (name, mvin)),) = lowered(Load(View("sums", 0, 0, 2, 4), accumulator(9)))
    assert (name, mvin["local_cols"]) == ("mvin", 4)
    assert LocalAddress.decode(mvin["local"]) == LocalAddress(row=9, accumulator=True)
    ((*_, (name, mvout)),) = lowered(Store(View("sums", 0, 0, 2, 4), accumulator(9)))
    assert (name, mvout["local_cols"]) == ("mvout", 4)
    local = LocalAddress.decode(mvout["local"])
    assert local == LocalAddress(row=9, accumulator=True, full=True)


def test_int32_in_the_scratchpad_are_counted_as_bytes():
    ((*_, (_, mvout)),) = lowered(Store(View("sums", 0, 0, 2, 4), scratchpad(9, blocks=4)))
    assert mvout["local_cols"] == 16


def test_three_ways_of_loading_are_kept_and_the_oldest_goes():
    kinds = [load(), load(pitch=3), load(pitch=4), load(), load(pitch=5), load(), load(pitch=3)]
    got = names(*kinds)
    assert got == [
        ["config_ld", "mvin"],
        ["config_ld", "mvin2"],
        ["config_ld", "mvin3"],
        ["mvin"],
        ["config_ld", "mvin2"],
        ["mvin"],
        ["config_ld", "mvin3"],
    ]


def test_a_load_waits_for_the_stores_it_names_unless_one_before_it_did():
    got = lowered(STORE, STORE, STORE, load(2), load(2), load(1), load(3), load())
    tokens = [[values for name, values in some if name == "config_token"] for some in got]
    counts = [[(v["wait"], v["count"], v["signal"]) for v in some] for some in tokens]
    assert counts == [[], [], [], [(1, 2, 1)], [], [], [(1, 3, 1)], []]
    for some in got:
        order = [name for name, _ in some]
        assert "config_token" not in order or order.index("config_token") < order.index(order[-1])


def test_stores_are_configured_where_it_changes():
    """The first one in the beginning."""
    other = Store(View("wide", 0, 0, 2, 4), scratchpad(0, blocks=2, pitch=5))
    (start, *_) = lowering(TINY).program([load(), STORE, other])
    (_, drain), (_, config) = map(decoded, start[2:])
    assert (drain["block_stride"], config["stride"]) == (2, 30)
    assert names(STORE, STORE, other, other) == [
        ["mvout"],
        ["mvout"],
        ["config_drain", "config_st", "mvout"],
        ["mvout"],
    ]
    (_, ((_, drain), (_, config), (_, mvout))) = lowered(STORE, other)
    assert (drain["block_stride"], config["stride"], mvout["local_cols"]) == (5, 60, 8)


def test_products():
    one = product(1, 2, 3, 9, 4, 3)
    other = product(1, 2, 3, 9, 4, 3, accumulate=True, a_unsigned=True, w_transposed=True)
    first, second, third = lowered(one, one, other)
    assert [name for name, _ in first] == ["config_ex", "preload", "compute_preloaded"]
    assert [name for name, _ in second] == ["preload", "compute_preloaded"]
    (_, config), (_, preload), (_, compute) = third
    assert (config["a_unsigned"], config["b_transpose"]) == (1, 1)
    c = LocalAddress(row=3, accumulator=True, accumulate=True)
    assert LocalAddress.decode(preload["c"]) == c
    assert (preload["b"], preload["b_rows"], preload["b_cols"]) == (2, 4, 3)
    assert (preload["c_rows"], preload["c_cols"]) == (9, 3)
    assert (compute["a"], compute["a_rows"], compute["a_cols"]) == (1, 9, 4)
    assert compute["d"] == GARBAGE
    assert not LocalAddress.decode(first[1][1]["c"]).accumulate


def assembly(*ops: Op, config: AcceleratorConfig = TINY, loops: bool = False) -> list[str]:
    """The commands of a program without tokens, as text."""
    parts = lowering(config, loops=loops, tokens=False).program(ops)
    return [format_command(command) for part in parts for command in part]


def test_sums_that_leave_requantized():
    """Twice from the same rows: what is configured stays so."""
    drain = Drain(0.5, relu=True, bias_row=6)
    store = Store(View("x", 1, 4, 2, 3), accumulator(9), drain)
    bias = LoadParameters(View("bias", 0, 4, 1, 3), LocalRows(PARAMETERS, 6, 1, 1, 1))
    assert assembly(bias, store, store) == [
        "config_drain bias=1 bias_row=6 block_stride=2",
        "config_st activation=1 stride=30 scale=0.5",
        "mvin_param dram=0x8010 row=6 count=3",
        "mvout dram=0x1022 local=acc[9] local_cols=3 local_rows=2",
        "mvout dram=0x1022 local=acc[9] local_cols=3 local_rows=2",
    ]


def test_sums_that_leave_as_they_are():
    store = Store(View("sums", 1, 4, 2, 3), accumulator(9), Drain(bias_row=6))
    assert assembly(store) == [
        "config_drain bias=1 bias_row=6 block_stride=2",
        "config_st stride=120",
        "mvout dram=0x4088 local=acc[9]+full local_cols=3 local_rows=2",
    ]


def nest(**changes: Any) -> Products:
    values = {"a": 0, "w": 32, "c": 0, "a_k": 1, "w_k": 4, "w_column": 8, "c_column": 1}
    values |= {"rows": 1, "k": 1, "pieces": 1, "columns": 3, "last_depth": 4, "last_cols": 2}
    return Products(**{**values, "accumulate": False, **changes})


def test_nests_are_one_command_each_where_it_exists():
    nests = [nest(), nest(a=1, w=36, accumulate=True)]
    lines = assembly(*nests, loops=True)
    assert lines == [
        "config_ex",
        "config_products a_k=1 w_k=4 w_column=8 c_column=1",
        "products w=32 overwrite=1 rows=1 k=1 pieces=1 columns=3 last_depth=4 last_cols=2",
        "products a=1 w=36 rows=1 k=1 pieces=1 columns=3 last_depth=4 last_cols=2",
    ]
    short, plain = (
        [each for part in lowering(TINY, loops=loops).program(nests) for each in part]
        for loops in (True, False)
    )
    assert [command for _, command in expand(short, TINY)] == plain
    without = TINY.with_values({"loop_entries": 0})
    assert assembly(*nests, config=without, loops=True) == assembly(*nests)


def test_parameters():
    op = LoadParameters(View("bias", 0, 5, 1, 9), LocalRows(PARAMETERS, 4, 3, 1, 3))
    assert lowered(op) == [[("mvin_param", lowered(op)[0][0][1])]]
    values = lowered(op)[0][0][1]
    assert (values["dram"], values["row"], values["count"]) == (0x8000 + 20, 4, 9)


def transform(**values: Any) -> Transform:
    fields = {"settings": {"statistics": 5}, "targets": (scratchpad(20, pitch=6),)} | values
    return Transform(Function.CONTEXT, accumulator(8, blocks=2, pitch=3), 7, **fields)


def test_a_transform():
    op = transform(parameters={"bias_row": 4}, residual=scratchpad(30, pitch=7))
    ((_, config), (_, rows), (_, values)) = lowered(op)[0]
    assert (config["function"], config["statistics"]) == (Function.CONTEXT, 5)
    assert (rows["source_stride"], rows["target_stride"], rows["bias_row"]) == (3, 6, 4)
    assert (rows["residual"], rows["residual_stride"]) == (30, 7)
    assert (values["target"], values["local_rows"], values["local_cols"]) == (20, 2, 7)
    assert LocalAddress.decode(values["local"]) == LocalAddress(row=8, accumulator=True)


def test_two_results():
    norm = {"two": 1, "channels": 7}
    (some,) = lowered(transform(targets=(scratchpad(20), scratchpad(40, pitch=9)), norm=norm))
    commands = dict(some)
    assert commands["config_norm"]["target2_stride"] == 9
    assert commands["transform"]["target2"] == 40


@pytest.mark.parametrize("count", range(3))
def test_results_that_there_are_not_go_to_row_0(count):
    targets = (scratchpad(20), scratchpad(40))[:count]
    values = dict(lowered(transform(targets=targets, norm={"channels": 7}))[0])["transform"]
    assert [values["target"], values["target2"]] == [*[20, 40][:count], *[0] * (2 - count)]


@pytest.mark.parametrize(
    ("other", "configured"),
    [
        (transform(), []),
        (transform(targets=(scratchpad(0, pitch=6),)), []),
        (transform(targets=(scratchpad(20, pitch=5),)), ["config_rows"]),
        (transform(norm={"channels": 3}), ["config_norm"]),
        (transform(mask={"keys": 3}), ["config_mask"]),
    ],
)
def test_only_what_changes_is_configured(other, configured):
    """But for the function: commands of one look the same after others, and after itself."""
    assert names(transform(), other)[1] == ["config_transform", *configured, "transform"]


def test_what_does_not_matter_is_left_as_it_is():
    masked = transform(mask={"keys": 3}, norm={"channels": 3})
    assert names(masked, transform(), masked)[2] == ["config_transform", "transform"]
