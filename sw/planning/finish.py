"""How sums leave: by stores that finish them, or by way of transforms."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Activation, Graph, MatMul, Requantize, Transform, View
from celosia.sw.planning.forms.plan import RingPlan
from celosia.sw.planning.forms.stages import SumsDrain
from celosia.sw.planning.rules.common import SHARES
from celosia.sw.planning.rules.linear import mvout_finishes, parameter_kinds
from celosia.sw.planning.rules.verify import PlanError

__all__ = ["ProductFinish", "beyond_stores", "stores"]


def beyond_stores(graph: Graph) -> Iterator[tuple[str, str]]:
    """The operators whose results stores do not make, each with what it needs."""
    for op in graph.ops:
        out = graph.tensors[op.results[0].tensor].type
        if not (isinstance(op, MatMul | Transform) and mvout_finishes(op, out)):
            finish = getattr(op, "finish", type(op).__name__.lower())
            how = str(finish).split(maxsplit=1)[0].rstrip(",")
            if isinstance(getattr(finish, "scale", None), View):
                how += " by a scale for each column"
            yield op.name, f"{how} to {out} needs a normalization unit, which is not there"


def stores(op: MatMul | Transform, out: str, config: AcceleratorConfig, bias: str) -> SumsDrain:
    """Stores make the results of `op`, of type `out`, with a bias from this ring, if there is one.

    Each takes as many tiles as it can.
    """
    most = config.max_accumulator_blocks if out == "int32" else config.max_blocks
    return SumsDrain(by="mvout", tiles=most, parameters=bias if op.bias is not None else "")


@dataclass(frozen=True)
class ProductFinish:
    """The finish of the only operator of `graph`."""

    op: MatMul
    graph: Graph
    config: AcceleratorConfig

    @property
    def by_stores(self) -> bool:
        """Whether stores make the results."""
        return mvout_finishes(self.op, self._type)

    @property
    def rows(self) -> int:
        """Rows at the end of the scratchpad that are for the results of transforms.

        Raises `PlanError` for a finish that is more than a transform of each element.
        """
        if self.by_stores:
            return 0
        if isinstance(self.op.finish, Requantize | Activation):
            return self.config.scratchpad_bank_rows // 2
        raise PlanError("drain", self.op.name, f"{self.op.finish} is more than a transform")

    def drain(self, rows: int, tiles: int) -> SumsDrain:
        """Blocks of at most `rows` rows and so many tiles of columns leave as soon as they can."""
        if self.by_stores:
            drain = stores(self.op, self._type, self.config, "bias")
            return replace(drain, tiles=min(drain.tiles, tiles))
        parameters = "bias" if parameter_kinds(self.op) else ""
        fit = self.rows // (2 * rows * self.graph.tensors[self.op.out.tensor].element_bytes)
        most = min(fit, self.config.max_blocks, self.config.parameter_rows // SHARES, tiles)
        return SumsDrain(tiles=max(1, most), parameters=parameters, results="results")

    @property
    def rings(self) -> dict[str, RingPlan]:
        """The rings of results and of parameters, as far as there are any."""
        end, rings = self.config.scratchpad_rows, dict[str, RingPlan]()
        if self.rows:
            span = end - self.rows, self.rows
            rings["results"] = RingPlan(space="scratchpad", spans=(span,))
        if parameter_kinds(self.op):
            span = 0, self.config.parameter_rows
            rings["bias"] = RingPlan(space="parameters", spans=(span,))
        return rings

    @property
    def _type(self) -> str:
        return self.graph.tensors[self.op.out.tensor].type
