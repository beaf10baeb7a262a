"""The writer: which loads there are, and where they are put."""

from collections.abc import Callable

import pytest

from celosia.isa.encoding import Function
from celosia.sw.ir.graph import Tensor, View
from celosia.sw.ir.program import Load, LocalRows, Multiply, Op, Space, Store, Transform
from celosia.sw.lowering import writer as module
from celosia.sw.lowering.rings import Ring
from celosia.sw.lowering.writer import ProgramWriter
from tests.support.levels import configured

SCRATCHPAD, ACCUMULATOR = Space.SCRATCHPAD, Space.ACCUMULATOR
TENSORS = {
    tensor.name: tensor
    for tensor in (
        Tensor("x", "int8", 64, 64),
        Tensor("y", "int8", 64, 64),
        Tensor("wide", "int32", 8, 300),
        Tensor("bias", "int32", 1, 64),
    )
}
TINY = configured("tiny")


@pytest.fixture
def writer() -> ProgramWriter:
    return ProgramWriter(TINY, TENSORS)


def view(row: int, rows: int = 4, cols: int = 4, tensor: str = "x") -> View:
    return View(tensor, row, 0, rows, cols)


def product(a: int, w: int = 0, rows: int = 4, c: int = 0) -> Multiply:
    return Multiply(a=a, w=w, c=c, rows=rows, depth=4, cols=4, accumulate=False)


def scratchpad(row: int, rows: int = 4) -> LocalRows:
    return LocalRows(SCRATCHPAD, row, rows, 1, rows)


def finished(writer: ProgramWriter) -> list[Op]:
    return [written.op for written in writer.finish()]


def place(ops: list[Op], is_it: Callable[[Op], bool]) -> int:
    return next(index for index, op in enumerate(ops) if is_it(op))


def loads(ops: list[Op]) -> list[Load]:
    return [op for op in ops if isinstance(op, Load)]


def test_a_piece_that_is_still_there_is_not_loaded_again(writer):
    ring = Ring(SCRATCHPAD, (0, 8))
    first = writer.load(view(0), ring)
    writer.write(product(first.row))
    assert writer.load(view(0), ring) == first
    writer.write(product(first.row))
    assert len(loads(finished(writer))) == 1


@pytest.mark.parametrize("overwrite", ["load", "other ring", "transform", "product"])
def test_a_piece_whose_rows_were_overwritten_is_loaded_again(writer, overwrite):
    space = ACCUMULATOR if overwrite == "product" else SCRATCHPAD
    tensor = "wide" if overwrite == "product" else "x"
    ring = Ring(space, (0, 4))
    rows = writer.load(view(0, tensor=tensor), ring)
    writer.write(Store(view(0, tensor="y"), rows))
    match overwrite:
        case "load":
            writer.load(view(8), ring)
            writer.write(product(0))
        case "other ring":
            writer.load(view(8), Ring(SCRATCHPAD, (3, 9)))
            writer.write(product(3))
        case "transform":
            source = LocalRows(ACCUMULATOR, 0, 4, 1, 4)
            writer.write(Transform(Function.REQUANTIZE, source, 4, (scratchpad(0),)))
        case "product":
            writer.write(product(8, 16))
    writer.load(view(0, tensor=tensor), ring)
    writer.write(product(0))
    assert sum(op.view == view(0, tensor=tensor) for op in loads(finished(writer))) == 2


def test_the_same_view_in_another_ring_is_another_piece(writer):
    for ring in (Ring(SCRATCHPAD, (0, 4)), Ring(SCRATCHPAD, (4, 4))):
        writer.write(product(writer.load(view(0), ring).row))
    assert [op.to.row for op in loads(finished(writer))] == [0, 4]


def test_a_ring_that_is_gone_leaves_no_piece_to_the_next(writer):
    firsts = [0, 4, 8, 12]
    assert [writer.load(view(0), Ring(SCRATCHPAD, (row, 4))).row for row in firsts] == firsts


def test_loads_come_before_what_needs_them_but_not_before_their_rows_are_free(writer):
    ring = Ring(SCRATCHPAD, (0, 4))
    for row in (0, 8, 16):
        writer.write(product(writer.load(view(row), ring).row, w=100))
        writer.write(product(200, w=100))
    kinds = [type(op).__name__[0] for op in finished(writer)]
    # The second load stands right behind the product that reads its rows, not behind the other.
    assert "".join(kinds) == "LMLMMLMMM"


def test_loads_are_not_issued_much_too_early(writer):
    ring = Ring(SCRATCHPAD, (0, 400))
    writer.write(product(writer.load(view(0), ring).row))
    for _ in range(module.MAX_LEAD // 4 + 50):
        writer.write(product(1000, w=1000))
    writer.write(product(writer.load(view(8), ring).row))
    ops = finished(writer)
    late = place(ops, lambda op: isinstance(op, Load) and op.view == view(8))
    ahead = sum(op.rows for op in ops[late:] if isinstance(op, Multiply)) - 4
    assert module.MAX_LEAD - 8 <= ahead <= module.MAX_LEAD + 8


def test_only_some_loads_are_issued_ahead(writer):
    ring = Ring(SCRATCHPAD, (0, 1000))
    lookahead = TINY.load_queue
    for row in range(40):
        writer.write(product(writer.load(view(row), ring).row, w=2000))
    ops = finished(writer)
    for index, op in enumerate(ops):
        if isinstance(op, Multiply):
            used = sum(isinstance(other, Multiply) for other in ops[: index + 1])
            loaded = len(loads(ops[:index]))
            assert used <= loaded <= used + lookahead


def test_a_load_that_is_ready_overtakes_one_that_is_not(writer):
    busy, free = Ring(SCRATCHPAD, (0, 4)), Ring(SCRATCHPAD, (100, 100))
    writer.write(product(writer.load(view(0), busy).row, w=2000))
    for _ in range(5):
        writer.write(product(0, w=2000))
    writer.write(product(writer.load(view(8), busy).row, w=2000))
    writer.write(product(writer.load(view(16), free).row, w=2000))
    assert [op.view.row for op in loads(finished(writer))] == [0, 16, 8]


def stored_and_loaded(writer: ProgramWriter, products_between: int) -> list[Op]:
    for number in range(3):
        writer.write(Store(view(4 * number, tensor="y"), scratchpad(4 * number)))
    for _ in range(products_between):
        writer.write(product(1000, w=1000, rows=64))
    ring = Ring(SCRATCHPAD, (100, 100))
    writer.write(product(writer.load(view(2, 4, tensor="y"), ring).row, w=2000))
    return finished(writer)


def test_a_load_waits_for_the_stores_of_what_it_reads(writer):
    ops = stored_and_loaded(writer, 0)
    (load,) = loads(ops)
    assert load.after == 2, "rows 2 to 5 are those of the first and the second store"


def test_a_load_of_what_was_stored_leaves_memory_some_time(writer):
    ops = stored_and_loaded(writer, 100)
    index = place(ops, lambda op: isinstance(op, Load))
    before = sum(op.rows for op in ops[:index] if isinstance(op, Multiply))
    assert module.SETTLING <= before <= module.SETTLING + 64


def test_what_was_deferred_is_written_in_its_time(writer):
    writer.operator = "one"
    store = Store(view(0, tensor="y"), scratchpad(0))
    writer.defer(lambda: writer.write(store), (store.view,), delay=100)
    writer.operator = "other"
    for _ in range(40):
        writer.write(product(1000, w=1000))
        writer.trickle()
    written = writer.finish()
    index = next(i for i, w in enumerate(written) if w.op == store)
    assert written[index].operator == "one"
    assert index == 25, "it is written behind 100 cycles of products, of 4 each"
    assert {w.operator for w in written if w.op != store} == {"other"}


def test_sums_that_are_still_to_be_drained_are_never_overwritten(writer):
    rows = LocalRows(ACCUMULATOR, 8, 4, 2, 4)
    writer.defer(lambda: writer.write(Store(view(0, tensor="y"), rows)), (), drains=rows)
    writer.write(product(0, c=4))
    writer.write(product(0, c=16))
    with pytest.raises(AssertionError, match=r"^c@12 .*: overwrites sums that are still to be"):
        writer.write(product(0, c=12))
    writer.agenda.write_all()
    writer.write(product(0, c=12))


def test_what_was_deferred_is_written_when_someone_needs_it(writer):
    stores = [Store(view(4 * n, tensor="y"), scratchpad(4 * n)) for n in range(3)]
    for store in stores:
        writer.defer(lambda store=store: writer.write(store), (store.view,), delay=1000)
    writer.trickle()
    ring = Ring(SCRATCHPAD, (100, 100))
    writer.write(product(writer.load(view(4, tensor="y"), ring).row, w=2000))
    ops = finished(writer)
    # The first two, in order, then what needs them; the last one at the end.
    assert [op for op in ops if isinstance(op, Store)] == stores
    assert ops.index(stores[1]) < place(ops, lambda op: isinstance(op, Multiply))
    assert ops[-1] == stores[2]
    (load,) = loads(ops)
    assert load.after == 2


def test_long_rows_are_loaded_and_stored_in_parts(writer):
    rows = writer.load(view(0, 2, 64), Ring(SCRATCHPAD, (0, 100)))
    assert (rows.blocks, rows.pitch) == (16, 2)
    writer.store(View("y", 0, 0, 2, 63), rows)
    wide = writer.load(View("wide", 0, 0, 2, 20), Ring(ACCUMULATOR, (0, 100)))
    assert wide.blocks == 5
    writer.store(View("wide", 0, 0, 2, 20), wide)
    ops = finished(writer)
    assert [(op.view.col, op.view.cols) for op in loads(ops)] == [(0, 64), (0, 16), (16, 4)]
    moved = [(op.view.col, op.view.cols) for op in ops if isinstance(op, Store)]
    assert moved == [(0, 63), (0, 16), (16, 4)]


def test_int32_in_rows_of_two_bytes_are_stored_whole():
    writer = ProgramWriter(configured("tiny", dim=2), TENSORS)
    rows = LocalRows(SCRATCHPAD, 0, 3, 2 * 21, 3)
    writer.store(View("wide", 0, 0, 3, 21), rows)
    stores = [op for op in finished(writer) if isinstance(op, Store)]
    assert [(op.view.col, op.view.cols) for op in stores] == [(0, 16), (16, 5)]
    assert [op.source.blocks for op in stores] == [32, 10]


def test_parameters_are_never_reused(writer):
    ring = Ring(Space.PARAMETERS, (0, 32))
    bias = View("bias", 0, 0, 1, 9)
    assert [writer.load_parameters(bias, ring) for _ in range(3)] == [0, 3, 6]
