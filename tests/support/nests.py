"""Programs in which nests of products are taken apart."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.program import Products, Written

__all__ = ["apart"]


def apart(program: Iterable[Written], config: AcceleratorConfig) -> Iterator[Written]:
    """The same with a `Multiply` for each product."""
    for written in program:
        if isinstance(written.op, Products):
            yield from (replace(written, op=op) for op in written.op.each(config.dim))
        else:
            yield written
