"""Products to nests of products.

Assumes nothing.  Guarantees nests whose products (`celosia.sw.ir.program.Products.each`) are those
given, in order.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from celosia.isa.encoding import PRODUCTS
from celosia.sw.ir.program import Multiply, Products

__all__ = ["gather_products"]

_MOST: Final = min(field.limit for field in PRODUCTS.fields if field.name in ("k", "columns")) - 1
"""Tiles that a count of PRODUCTS can say."""


def gather_products(products: Iterable[Multiply], dim: int) -> Iterator[Products]:
    """Nests of neighbors whose rows advance evenly, along K or across columns."""
    run: list[Multiply] = []
    for each in products:
        if run and not _continues(run, each, dim):
            yield _nest(run)
            run = []
        run.append(each)
    if run:
        yield _nest(run)


def _continues(run: list[Multiply], new: Multiply, dim: int) -> bool:
    last = run[-1]
    if len(run) == _MOST or not _alike(last, new):
        return False
    if new.c == last.c:
        goes_on = last.depth == dim and new.cols == last.cols and new.accumulate
    else:
        goes_on = (last.cols, new.a, new.depth, new.accumulate) == (
            dim,
            last.a,
            last.depth,
            last.accumulate,
        )
    return goes_on and (len(run) == 1 or _step(last, new) == _step(run[-2], last))


def _alike(left: Multiply, right: Multiply) -> bool:
    return (left.rows, left.a_unsigned, left.w_transposed) == (
        right.rows,
        right.a_unsigned,
        right.w_transposed,
    )


def _step(left: Multiply, right: Multiply) -> tuple[int, int, int]:
    return right.a - left.a, right.w - left.w, right.c - left.c


def _nest(run: list[Multiply]) -> Products:
    first, last, count = run[0], run[-1], len(run)
    a, w, c = _step(*run[:2]) if count > 1 else (0, 0, 0)
    across = c != 0
    return Products(
        a=first.a,
        w=first.w,
        c=first.c,
        a_k=a,
        w_k=0 if across else w,
        w_column=w if across else 0,
        c_column=c,
        rows=first.rows,
        k=1 if across else count,
        pieces=1,
        columns=count if across else 1,
        last_depth=last.depth,
        last_cols=last.cols,
        accumulate=first.accumulate,
        a_unsigned=first.a_unsigned,
        w_transposed=first.w_transposed,
    )
