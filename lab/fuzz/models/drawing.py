"""A random ONNX model in the making: tensors with their shapes, and the nodes between them."""

from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

__all__ = ["OPSETS", "Drawing", "Tensor"]

OPSETS: Final = (13, 14, 17, 18, 21)
"""Versions of operators that are drawn: axes are operands in one, attributes in another."""
_IR_VERSION: Final = 8


@dataclass(frozen=True)
class Tensor:
    """A tensor of float32."""

    name: str
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements there are."""
        return prod(self.shape)

    def resized(self, axis: int, *sizes: int) -> tuple[int, ...]:
        """The shape with `sizes` in the place of an axis."""
        return (*self.shape[:axis], *sizes, *self.shape[axis + 1 :])


class Drawing:
    """What steps add nodes to."""

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        self.opset = int(self.random.choice(OPSETS))
        self.tensors: list[Tensor] = []
        """All so far: any of them may be read again."""
        self.steps: list[str] = []
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def pick(self, *values: Any) -> Any:
        """One of some values."""
        return values[self.random.integers(len(values))]

    def below(self, end: int, start: int = 0) -> int:
        """A number from `start` on."""
        return int(self.random.integers(start, end))

    def chance(self, probability: float = 0.5) -> bool:
        """Whether something of this probability happens."""
        return bool(self.random.random() < probability)

    def axis(self, x: Tensor) -> int:
        """An axis, counted from the first."""
        return self.below(x.rank)

    def signed(self, axis: int, x: Tensor) -> int:
        """The same axis, counted from the first or from the last."""
        return axis - x.rank if self.chance() else axis

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        """A known tensor."""
        name = f"c{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def ints(self, *values: int) -> str:
        """A known list of whole numbers."""
        return self.constant(values, np.int64)

    def normal(self, *shape: int, scale: float = 1.0) -> str:
        """A known tensor of random numbers."""
        return self.constant(self.random.standard_normal(shape) * scale)

    def op(
        self, kind: str, shape: tuple[int, ...], x: Tensor, *others: str, **attributes: Any
    ) -> Tensor:
        """What a node makes of `x` and other tensors: of this shape."""
        return self.several(kind, (shape,), x, *others, **attributes)[0]

    def several(
        self, kind: str, shapes: tuple[tuple[int, ...], ...], x: Tensor, *others: str, **more: Any
    ) -> list[Tensor]:
        """What a node with several results makes."""
        number = len(self._nodes)
        made = [Tensor(f"t{number}.{index}", shape) for index, shape in enumerate(shapes)]
        names = [each.name for each in made]
        inputs = [x.name, *others]
        self._nodes.append(helper.make_node(kind, inputs, names, f"{kind}_{number}", **more))
        return made

    def model(self, x: Tensor, outputs: dict[str, Tensor]) -> ModelProto:
        """The model from `x` to these outputs."""
        for name, each in outputs.items():
            self._nodes.append(helper.make_node("Identity", [each.name], [name]))
        graph = helper.make_graph(
            self._nodes,
            "random",
            [helper.make_tensor_value_info(x.name, TensorProto.FLOAT, x.shape)],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, each.shape)
                for name, each in outputs.items()
            ],
            self._constants,
        )
        imports = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=imports, ir_version=_IR_VERSION)
