"""Operations of the contract as payloads of the RTL."""

from celosia.hw.decode.ops import Space
from celosia.hw.gemmini.fields import POOLING
from celosia.isa.bert import Passing
from celosia.isa.encoding.tokens import TokenWait
from celosia.isa.operations.operations import Load, LoadParameters, Product, Store
from celosia.isa.state.pooling import Pooling

__all__ = ["load_op", "parameters_op", "product_op", "store_op"]


def product_op(product: Product) -> dict:
    """The fields of `ExecuteOp`; those that mean nothing are left out."""
    a, w, d, c = product.a, product.w, product.d, product.c
    fields = {
        "load_weights": product.load_weights,
        "w_zero": w is None,
        "a_zero": a is None,
        "d_valid": d is not None,
        "a_unsigned": product.a_unsigned,
        "relu": product.relu,
    }
    for name, operand in (("a", a), ("w", w), ("d", d), ("c", c)):
        if operand is not None:
            fields |= {f"{name}_rows": operand.rows, f"{name}_cols": operand.cols}
            if operand.lines:
                fields[f"{name}_row"] = operand.local.row
    if w is not None:
        fields |= {"w_transpose": w.transposed, "w_int4": w.fold is not None}
    if a is not None:
        fields |= {"a_stride": a.stride, "a_transpose": a.transposed}
    if product.resident is not None:
        fields |= {
            "resident": 1,
            "start": product.resident.start,
            "shift": product.resident.shift,
            "kept": c.rows if c else 0,
        }
        fields.pop("c_rows", None)
    if c is not None:
        fields |= {
            "c_stride": c.stride,
            "c_accumulator": c.local.accumulator,
            "accumulate": c.local.accumulate,
        }
    return fields


def _space(accumulator: bool) -> Space:
    return Space.ACCUMULATOR if accumulator else Space.SCRATCHPAD


def _wait_fields(wait: TokenWait | None) -> dict:
    if wait is None:
        return {"wait": 0}
    return {"wait": 1, "wait_token": wait.token, "wait_count": wait.count}


def load_op(load: Load) -> dict:
    """The fields of `LoadOp`."""
    return {
        "address": load.address,
        "stride": load.stride,
        "rows": load.rows,
        "cols": load.cols,
        "space": _space(load.local.accumulator),
        "row": load.local.row,
        "block_stride": load.pitch,
        "zero": load.zero,
        "accumulate": load.local.accumulate,
        "shrunk": load.shrunk,
        "scale": load.scale,
        **({"copies": load.repeats - 1} if load.repeats > 1 else {}),
    } | _wait_fields(load.wait)


def parameters_op(load: LoadParameters) -> dict:
    """The fields of `LoadOp`."""
    return {
        "address": load.address,
        "rows": 1,
        "cols": load.count,
        "space": Space.PARAMETER,
        "row": load.row,
        "block_stride": 1,
        "zero": 0,
        "accumulate": 0,
        "shrunk": 0,
    } | _wait_fields(load.wait)


def _pooling_fields(pooling: Pooling, stride: int) -> dict:
    names = POOLING.members
    return {
        "pools": 1,
        "pooling": {name: getattr(pooling, name) for name in names},
        "row_stride": pooling.pitch * stride,
    }


def passing_fields(passing: Passing) -> dict:
    """The fields of `PASSING`."""
    state = passing.state
    constants = {name: getattr(state, name) for name in ("qb", "qc", "ln2", "ln2_inverse")}
    return {
        "passes": 1,
        "command": passing.command.value,
        "activation": passing.activation.value,
        "statistics": state.statistics,
        "constants": constants,
    }


def store_op(store: Store) -> dict:
    """The fields of `StoreOp`."""
    fields = {
        "address": store.address,
        "stride": store.stride,
        "rows": store.rows,
        "cols": store.cols,
        "space": _space(store.local.accumulator),
        "row": store.local.row,
        "block_stride": store.pitch,
        "full": store.wide,
        "int16": store.int16,
        "relu": store.relu,
        "scale": store.scale,
        "bias": store.bias_row is not None,
        "signal": store.signal is not None,
    }
    if store.pooling is not None:
        fields |= _pooling_fields(store.pooling, store.stride)
    if not store.rows:
        del fields["row"]  # It need not exist.
    if store.passing is not None:
        fields["passing"] = passing_fields(store.passing)
    if store.bias_row is not None:
        fields["bias_row"] = store.bias_row
    if store.signal is not None:
        fields["signal_token"] = store.signal
    return fields
