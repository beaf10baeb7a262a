"""Nests of one product, and programs in which nests are taken apart."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.program import Products, Written

__all__ = ["apart", "product"]


def apart(program: Iterable[Written], config: AcceleratorConfig) -> Iterator[Written]:
    """The same with a nest for each product."""
    for written in program:
        if isinstance(written.op, Products):
            yield from (replace(written, op=op) for op in written.op.each(config.dim))
        else:
            yield written


def product(
    a: int,
    w: int,
    c: int,
    rows: int,
    depth: int,
    cols: int,
    *,
    accumulate: bool = False,
    a_unsigned: bool = False,
    w_transposed: bool = False,
) -> Products:
    """A product of one tile of weights, of operands and sums from these rows on."""
    return Products(
        a=a,
        w=w,
        c=c,
        a_k=0,
        w_k=0,
        w_column=0,
        c_column=0,
        rows=rows,
        k=1,
        pieces=1,
        columns=1,
        last_depth=depth,
        last_cols=cols,
        accumulate=accumulate,
        a_unsigned=a_unsigned,
        w_transposed=w_transposed,
    )
