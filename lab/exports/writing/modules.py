"""Linear layers, norms and activations, as they look when exported."""

import numpy as np

from celosia.lab.exports.writing.tape import Tape
from celosia.lab.exports.writing.weights import Floats

__all__ = [
    "gelu",
    "gelu_tanh",
    "gemm",
    "layer_norm",
    "linear",
    "raised_rms_norm",
    "rms_norm",
    "silu",
]


def linear(tape: Tape, path: str, x: str, weights: Floats, bias: Floats | None = None) -> str:
    """``torch.nn.Linear`` on a tensor of three axes: MatMul, and Add with the bias first."""
    with tape.inside(path):
        product = tape.op("MatMul", x, tape.matrix(f"{tape.module}.weight", weights))
        if bias is None:
            return product
        return tape.op("Add", tape.weight(f"{tape.module}.bias", bias), product)


def gemm(tape: Tape, path: str, x: str, weights: Floats, bias: Floats) -> str:
    """``torch.nn.Linear`` on a matrix: Gemm, with the weights as torch has them."""
    with tape.inside(path):
        operands = (
            tape.weight(f"{tape.module}.weight", weights.T),
            tape.weight(f"{tape.module}.bias", bias),
        )
        return tape.op("Gemm", x, *operands, alpha=1.0, beta=1.0, transB=1)


def layer_norm(tape: Tape, path: str, x: str, gamma: Floats, beta: Floats, epsilon: float) -> str:
    """``torch.nn.LayerNorm``: one operator from opset 17 on, nine before."""
    with tape.inside(path):
        factors = tape.weight(f"{tape.module}.weight", gamma)
        offsets = tape.weight(f"{tape.module}.bias", beta)
        if tape.opset >= 17:
            return tape.op("LayerNormalization", x, factors, offsets, axis=-1, epsilon=epsilon)
        centered = tape.op("Sub", x, tape.reduce_mean(x))
        variance = tape.reduce_mean(tape.op("Pow", centered, tape.number(2)))
        root = tape.op("Sqrt", tape.op("Add", variance, tape.number(epsilon)))
        scaled = tape.op("Mul", tape.op("Div", centered, root), factors)
        return tape.op("Add", scaled, offsets)


def rms_norm(tape: Tape, path: str, x: str, gamma: Floats, epsilon: float) -> str:
    """The norm of T5 and Llama, which transformers computes in float32."""
    with tape.inside(path):
        scaled = _of_square_one(tape, tape.cast(x, 1), epsilon)
        return tape.op("Mul", tape.weight(f"{tape.module}.weight", gamma), scaled)


def raised_rms_norm(tape: Tape, path: str, x: str, gamma: Floats, epsilon: float) -> str:
    """The norm of Gemma: its factors are 1 more than its weights."""
    with tape.inside(path):
        scaled = _of_square_one(tape, tape.cast(x, 1), epsilon)
        weights = tape.cast(tape.weight(f"{tape.module}.weight", gamma), 1)
        factors = tape.op("Add", weights, tape.number(1))
        return tape.cast(tape.op("Mul", scaled, factors), 1)


def _of_square_one(tape: Tape, x: str, epsilon: float) -> str:
    """Rows over the roots of their mean squares."""
    mean = tape.reduce_mean(tape.op("Pow", x, tape.number(2)))
    root = tape.op("Sqrt", tape.op("Add", mean, tape.number(epsilon)))
    return tape.op("Mul", x, tape.op("Div", tape.number(1), root))


def gelu(tape: Tape, x: str) -> str:
    """GELU by erf, five operators."""
    erf = tape.op("Erf", tape.op("Div", x, tape.number(np.sqrt(2))))
    doubled = tape.op("Mul", x, tape.op("Add", erf, tape.number(1)))
    return tape.op("Mul", doubled, tape.number(0.5))


def gelu_tanh(tape: Tape, x: str) -> str:
    """GELU by tanh, as GPT-2 has it."""
    half = tape.op("Mul", x, tape.number(0.5))
    cube = tape.op("Mul", tape.op("Pow", x, tape.number(3)), tape.number(0.044715))
    inner = tape.op("Mul", tape.op("Add", x, cube), tape.number(np.sqrt(2 / np.pi)))
    return tape.op("Mul", half, tape.op("Add", tape.op("Tanh", inner), tape.number(1)))


def silu(tape: Tape, x: str) -> str:
    """``x * sigmoid(x)``."""
    return tape.op("Mul", x, tape.op("Sigmoid", x))
