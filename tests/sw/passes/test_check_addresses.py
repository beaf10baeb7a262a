"""Programs that leave their tensors are found."""

from functools import partial

import numpy as np
import pytest

from celosia.isa.encoding import PRODUCTS, Funct
from celosia.isa.operations.loops import expand
from celosia.isa.presets import resolve_config
from celosia.sw.compiler.passes import Compress, Encode
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.decoding.texts import Text
from celosia.sw.driver.program_file import parse_program
from celosia.sw.ir.graph import Requantize, Sums, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.passes.check_addresses import check_addresses
from tests.sw.models.decoder_runs import model

CONFIG = resolve_config("tiny", ())


@pytest.fixture(scope="module")
def compiled():
    """A step of a small decoder, as single commands."""
    graph = model("opt").graph([Text(5, 1)], 20)
    return compile_graph(graph, CONFIG, Encode(nests=False), Compress(loops=False))


def moved(compiled, names, function, distance):
    """The program with the address of one command moved; the command is the first to touch one."""
    graph, program = compiled.graph, list(compiled.program)
    for number, command in enumerate(program):
        for name in names:
            start = compiled.addresses[name]
            inside = start <= command.rs1 < start + graph.tensors[name].bytes
            if command.funct in function and inside:
                program[number] = command._replace(rs1=command.rs1 + distance)
                return program, number
    raise LookupError(f"no command touches one of {names}")


def test_a_program_of_the_compiler_stays_in_its_tensors(compiled):
    check_addresses(compiled.program, CONFIG, compiled.graph, compiled.addresses)


@pytest.mark.parametrize("rows", [1, -1, 30])
def test_rows_of_a_cache_that_no_operator_writes_must_not_be_written(compiled, rows):
    width = compiled.graph.tensors["0.key.cache"].cols
    program, number = moved(compiled, ["0.key.cache"], {Funct.MVOUT}, rows * width)
    with pytest.raises(AssertionError, match=f"command {number}: .* must not be written"):
        check_addresses(program, CONFIG, compiled.graph, compiled.addresses)


@pytest.mark.parametrize("parts", [(0,), (0, 6), (6, 3, 0)])
def test_all_parts_of_a_cache_that_operators_write_may_be_written(parts):
    builder = GraphBuilder("appending")
    a = builder.input(Tensor("a", "int8", 2, 4))
    held = builder.input(Tensor("held", "int8", 8, 4, cache=True))
    w = builder.constant("w", np.eye(4, dtype=np.int8))
    for row in parts:
        builder.matmul(f"append{row}", held.part(row=row, rows=2), a, w, Requantize(1.0))
    out = builder.tensor(Tensor("out", "int32", 8, 4))
    builder.matmul("read", out, held, w, Sums())
    appending = compile_graph(
        builder.finish("out"), CONFIG, Encode(nests=False), Compress(loops=False)
    )
    check_addresses(appending.program, CONFIG, appending.graph, appending.addresses)


def test_constants_must_not_be_written(compiled):
    distance = compiled.addresses["vocabulary.weights"] - compiled.addresses["vocabulary.sums"]
    program, number = moved(compiled, ["vocabulary.sums"], {Funct.MVOUT}, distance)
    with pytest.raises(AssertionError, match=f"command {number}: .* must not be written"):
        check_addresses(program, CONFIG, compiled.graph, compiled.addresses)


def test_what_is_in_no_tensor_must_not_be_read(compiled):
    functions = {Funct.MVIN, Funct.MVIN2, Funct.MVIN3}
    program, number = moved(compiled, ["vocabulary.weights"], functions, 1 << 32)
    with pytest.raises(AssertionError, match=f"command {number}: .* must not be read"):
        check_addresses(program, CONFIG, compiled.graph, compiled.addresses)


@pytest.mark.parametrize(
    ("name", "funct", "what"),
    [
        ("a", Funct.MVIN, "read"),
        ("bias", Funct.MVIN_PARAM, "read"),
        ("out", Funct.MVOUT, "written"),
    ],
)
def test_one_byte_behind_a_tensor_is_outside(name, funct, what):
    """Each tensor is moved by one command, and there is room behind it."""
    builder = GraphBuilder("product")
    a = builder.input(Tensor("a", "int8", 2, 3))
    w = builder.constant("w", np.ones((3, 4), np.int8))
    bias = builder.constant("bias", np.ones((1, 4), np.int32))
    out = builder.tensor(Tensor("out", "int8", 2, 4))
    builder.matmul("product", out, a, w, Requantize(1.0), bias=bias)
    compiled = compile_graph(
        builder.finish("out"), CONFIG, Encode(nests=False), Compress(loops=False)
    )
    program, number = moved(compiled, [name], {funct}, 1)
    with pytest.raises(AssertionError, match=f"command {number}: .* must not be {what}"):
        check_addresses(program, CONFIG, compiled.graph, compiled.addresses)


def test_a_command_that_is_not_legal_is_named(compiled):
    number = next(n for n, command in enumerate(compiled.program) if command.funct == Funct.MVOUT)
    program = list(compiled.program)
    program[number] = program[number]._replace(rs2=(1 << 64) - 1)
    with pytest.raises(AssertionError, match=f"command {number}: [A-Z_]+$"):
        check_addresses(program, CONFIG, compiled.graph, compiled.addresses)


@pytest.fixture(scope="module")
def nested():
    """A step of a small decoder, whose products are nests."""
    return compile_graph(model("opt").graph([Text(5, 1)], 20), CONFIG, Compress(loops=False))


def issued(program, index):
    """How many commands `program` issues before its command `index`."""
    return len([*expand(program[:index], CONFIG)])


def test_behind_nests_of_products_commands_are_named_by_their_numbers(nested):
    check_addresses(nested.program, CONFIG, nested.graph, nested.addresses)
    width = nested.graph.tensors["0.key.cache"].cols
    program, index = moved(nested, ["0.key.cache"], {Funct.MVOUT}, width)
    number = issued(program, index)
    assert number > index
    with pytest.raises(AssertionError, match=f"command {number}: .* must not be written"):
        check_addresses(program, CONFIG, nested.graph, nested.addresses)


@pytest.mark.parametrize("field", ["a", "w"])
def test_a_nest_that_leaves_its_memory_is_named_by_the_product_that_does(nested, field):
    program = list(nested.program)
    index = next(n for n, command in enumerate(program) if command.funct == Funct.PRODUCTS)
    values = PRODUCTS.decode(program[index])
    program[index] = PRODUCTS.encode(**values | {field: CONFIG.scratchpad_rows})
    number = issued(program, index) + 1
    with pytest.raises(AssertionError, match=f"command {number}: LOCAL_RANGE$"):
        check_addresses(program, CONFIG, nested.graph, nested.addresses)


@pytest.mark.parametrize(("last", "inside"), [(12, True), (16, False), (8, False)])
def test_rows_may_go_backwards(last, inside):
    """A stride of 2^64 - 4 is one of -4: rows begin at `last`, and the fourth one 12 before it."""
    builder = GraphBuilder("backwards")
    a = builder.input(Tensor("a", "int8", 4, 4))
    out = builder.tensor(Tensor("out", "int32", 4, 4))
    builder.matmul("y", out, a, builder.constant("w", np.eye(4, dtype=np.int8)), Sums())
    start = 1 << 16
    text = f"""
    .preset tiny
    config_ld stride={(1 << 64) - 4:#x}
    mvin dram={start + last:#x} local=sp[0] local_cols=4 local_rows=4
    """
    addresses = {"a": start, "w": 1 << 17, "out": 1 << 18}
    check = partial(check_addresses, parse_program(text).commands, CONFIG, addresses=addresses)
    if inside:
        check(builder.finish("out"))
    else:
        with pytest.raises(AssertionError, match=r"command 1: .* must not be read"):
            check(builder.finish("out"))
