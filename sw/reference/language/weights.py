"""The weights of a decoder of Llama's form, in float32."""

from dataclasses import dataclass

import numpy as np

from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.shape import LlamaShape, tensor_shapes

__all__ = ["LlamaWeights"]


@dataclass(frozen=True, eq=False)
class LlamaWeights:
    """Float32 tensors by name, those of `tensor_shapes`; matrices are inputs x outputs.

    Raises `ValueError` if one is missing, superfluous, of another shape or not finite.
    """

    shape: LlamaShape
    tensors: dict[str, Floats]

    def __post_init__(self):
        sizes = tensor_shapes(self.shape)
        for name in sorted(sizes.keys() ^ self.tensors.keys()):
            raise ValueError(f"tensor {name}: is {'missing' if name in sizes else 'superfluous'}")
        for name, tensor in self.tensors.items():
            if tensor.shape != sizes[name]:
                raise ValueError(f"tensor {name}: its shape is {tensor.shape}, not {sizes[name]}")
            if not np.isfinite(tensor).all():
                raise ValueError(f"tensor {name}: has numbers that are not finite")

    def __getitem__(self, name: str) -> Floats:
        return self.tensors[name]

    @property
    def vocabulary(self) -> Floats:
        """The matrix of the last product: width x vocabulary."""
        return self["embedding"].T
