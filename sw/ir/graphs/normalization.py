"""Layer normalization: rows of int16, normalized."""

from dataclasses import dataclass
from typing import Final

from celosia.isa import numerics
from celosia.isa.numerics.normalization import EPSILON_BITS
from celosia.sw.ir.graphs.operator import Operator, Part, Rules, Values
from celosia.sw.ir.graphs.tensors import View

__all__ = ["LayerNorm", "Normalized"]

_MAX_SHIFT: Final = 31
"""The largest shift of a layer normalization's output."""


@dataclass(frozen=True, slots=True)
class Normalized(Part):
    """One output of a layer normalization, int8 or int16."""

    READS = ("gamma", "beta")
    WRITES = ROWS = ("out",)
    out: View
    gamma: View
    """The factor of each column, int16: a row."""
    beta: View
    """The addend of each column, int32: a row."""
    shift: int
    """What both are to be divided by, as a power of two."""

    def __str__(self) -> str:
        return f"{self.out} by {self.gamma}, {self.beta}, shift {self.shift}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerNorm(Operator):
    """Rows of int16, normalized; one or two outputs of one pass."""

    READS = ROWS = ("source", "outputs")
    WRITES = ("outputs",)
    name: str
    source: View
    outputs: tuple[Normalized, ...]
    epsilon: int = 0
    """What is added to the sum of squared distances, 40 bits."""
    rms: bool = False
    """Distances are from 0, not from the mean."""

    @property
    def alike(self) -> tuple[object, ...]:
        """Extents, and the number of outputs."""
        return "norm", *self.source.shape, len(self.outputs)

    def check(self, rules: Rules) -> None:
        """Types, shapes, epsilon and shifts."""
        shape, cols = self.source.shape, self.source.cols
        rules.expect(self.source, "source", shape, "int16")
        rules.row_of(cols)
        if not 0 <= self.epsilon < 1 << EPSILON_BITS:
            raise ValueError(f"epsilon: {self.epsilon} is not in 0..{(1 << EPSILON_BITS) - 1}")
        if len(self.outputs) not in {1, 2}:
            raise ValueError(f"outputs: {len(self.outputs)} are not one or two")
        for output in self.outputs:
            rules.expect(output.out, "out", shape, "int8", "int16")
            rules.expect(output.gamma, "gamma", (1, cols), "int16")
            rules.expect(output.beta, "beta", (1, cols), "int32")
            if not 0 <= output.shift <= _MAX_SHIFT:
                raise ValueError(f"shift: {output.shift} is not in 0..{_MAX_SHIFT}")

    def compute(self, values: Values) -> None:
        """Write all outputs."""
        source = values.read(self.source)
        statistics = numerics.row_statistics(
            numerics.row_sums(source), self.source.cols, epsilon=self.epsilon, rms=self.rms
        )
        y = numerics.normalize(source, statistics)
        for output in self.outputs:
            gamma, beta = values.read(output.gamma)[0], values.read(output.beta)[0]
            kind = values.values[output.out.tensor].dtype
            values.write(output.out, numerics.Affine(gamma, beta, output.shift, kind)(y))

    def __str__(self) -> str:
        kind = "rmsnorm" if self.rms else "layernorm"
        epsilon = f", epsilon {self.epsilon}" * bool(self.epsilon)
        outputs = " and ".join(map(str, self.outputs))
        return f"{self.name}: {kind} {self.source}{epsilon} -> {outputs}"
