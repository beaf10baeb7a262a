"""A node of an ONNX graph as its handler sees it.

What a handler does not look at, it does not support: attributes and operands that are there and
were not asked for make the importer refuse the node.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from onnx import AttributeProto, NodeProto

from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.importer.source.quantization import Quantization
from celosia.sw.frontend.nn.operators.operator import Array, TensorType

__all__ = ["Call", "Result"]

Result = str | Sequence[str | None]
"""The tensor that a node makes, or several; None: this output is not computed."""

_REQUIRED: Final = object()


class Call:
    """The operands and attributes of one node, and the graph that is built."""

    def __init__(
        self,
        node: NodeProto,
        version: int,
        quantization: Quantization,
        operands: Sequence[str | None],
        attributes: Mapping[str, AttributeProto],
        decode: Callable[[AttributeProto], Any],
        prefix: str,
    ):
        self.node = node
        self.version = version
        """The version of the operators of the node's domain."""
        self.build = quantization.build
        self.quantization = quantization
        """What tensors of integers stand for."""
        self._operands = operands
        self._attributes = attributes
        self._decode = decode
        self._prefix = prefix
        self._seen: set[str] = set()
        self._read: set[int] = set()

    @property
    def name(self) -> str:
        """What tensors of the node are called like."""
        return self._prefix + next(filter(None, self.node.output), self.node.op_type)

    @property
    def count(self) -> int:
        """How many operands there are, up to the last that is given."""
        return max((i + 1 for i, name in enumerate(self._operands) if name is not None), default=0)

    def __getitem__(self, index: int) -> str:
        """The operand at this place.  Raises `Refusal` if it is left out."""
        found = self.optional(index)
        if found is None:
            raise Refusal(f"its operand {index} is missing")
        return found

    def optional(self, index: int) -> str | None:
        """The operand at this place, or None if it is left out."""
        self._read.add(index)
        return self._operands[index] if index < len(self._operands) else None

    def all(self) -> list[str]:
        """All operands; none may be left out."""
        return [self[index] for index in range(self.count)]

    def type(self, index: int) -> TensorType:
        """The type of an operand."""
        return self.build.type(self[index])

    def known(self, index: int, what: str) -> Array:
        """The value of an operand.  Raises `Refusal` if it is known only when the model runs."""
        value = self.build.value(self[index])
        if value is None:
            raise Refusal(f"its {what} ({self[index]}) is known only when the model runs")
        return value

    def ints(self, index: int, what: str) -> tuple[int, ...]:
        """The whole numbers that an operand holds; as `known`."""
        value = self.known(index, what)
        if value.dtype.kind not in "iu" or value.ndim > 1:
            raise Refusal(f"its {what} ({self[index]}) is no list of whole numbers")
        return tuple(map(int, value.reshape(-1)))

    def attribute(self, name: str, default: Any = _REQUIRED) -> Any:
        """An attribute as a Python value.  Raises `Refusal` if it lacks and has no default."""
        self._seen.add(name)
        if name in self._attributes:
            return self._decode(self._attributes[name])
        if default is _REQUIRED:
            raise Refusal(f"its attribute {name} is missing")
        return default

    def ignore(self, *names: str) -> None:
        """Take attributes for seen that change nothing here."""
        self._seen.update(names)

    def ignore_operands(self, *indices: int) -> None:
        """Take operands for seen that change nothing here."""
        self._read.update(indices)

    def wants(self, index: int) -> bool:
        """Whether the output at this place has a name."""
        return index < len(self.node.output) and bool(self.node.output[index])

    def op(self, op: str, *operands: str, **attributes: Any) -> str:
        """A tensor of the float graph that is called like the node's first output."""
        return self.build.op(op, *operands, name=self.name, **attributes)

    def scalar(self, value: float, like: str) -> str:
        """A number of the element type of tensor `like`."""
        return self.build.like(value, like)

    def reshape(self, operand: str, shape: Sequence[int]) -> str:
        """`operand` in another shape."""
        return self.op("reshape", operand, shape=tuple(map(int, shape)))

    def indices(self, values: Any) -> str:
        """A constant of int64."""
        return self.build.constant(np.asarray(values, np.int64))

    def instead(self, op: str, version: int, operands: Sequence[str | None]) -> "Call":
        """The call of another operator with these operands, and with the node's attributes."""
        node = NodeProto()
        node.CopyFrom(self.node)
        node.op_type = op
        found = Call(
            node,
            version,
            self.quantization,
            operands,
            self._attributes,
            self._decode,
            self._prefix,
        )
        found._seen = self._seen
        return found

    def check_all_seen(self) -> None:
        """Raise `Refusal` if something of the node was not looked at."""
        unseen = sorted(self._attributes.keys() - self._seen)
        if unseen:
            raise Refusal(f"its attribute {unseen[0]} is not supported")
        for index, name in enumerate(self._operands):
            if name is not None and index not in self._read:
                raise Refusal(f"its operand {index} ({name}) is not supported")
