"""Recurrent layers: each step of a sequence reads the one before it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.nn.operators.elementwise import sigmoid
from celosia.sw.frontend.nn.operators.operator import (
    FLOATS,
    Array,
    Kind,
    Operator,
    Reach,
    TensorType,
    expect,
    same_types,
)

__all__ = ["ACTIVATIONS", "GATES", "RECURRENT"]

GATES: Final = {"rnn": 1, "gru": 3, "lstm": 4}
"""The products of each kind of layer, by rows of its weights: GRU's z, r, h and LSTM's i, o, f, c.
"""
ACTIVATIONS: Final[Mapping[str, Callable[[Array], Array]]] = {
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": sigmoid,
    "tanh": np.tanh,
}
_WAITS: Final = "its steps wait for each other"


def _recurrent(kind: str) -> Callable[[Sequence[TensorType], Mapping[str, Any]], TensorType]:
    def infer(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
        dtype, (x, weights, bias, *states) = same_types(types, FLOATS), types
        expect(x.rank == 3 and weights.rank == 2, f"{x} and {weights} are no steps and weights")
        steps, batch, width = x.shape
        hidden = weights.shape[0]
        sizes = (hidden, GATES[kind] * hidden)
        expect(weights.shape == sizes and width == sizes[1], f"{x} are no gates of {weights}")
        expect(bias.shape == (width,), f"its bias is {bias}, not of shape {(width,)}")
        for state in states:
            expect(state.shape == (batch, hidden), f"its state is {state} for {weights}")
        names = attributes["activations"].split()
        known = all(name in ACTIVATIONS for name in names)
        expect(known and len(names) == _FUNCTIONS[kind], f"activations: {names} are unknown")
        return TensorType(dtype, (steps, batch, hidden * len(states)))

    return infer


_FUNCTIONS: Final = {"rnn": 1, "gru": 2, "lstm": 3}
"""The activations of each kind of layer."""


def _steps(
    values: Sequence[Array], step: Callable[[Array, Sequence[Array]], Sequence[Array]]
) -> Array:
    """All states, side by side, behind each step."""
    x, states = values[0], values[3:]
    found = np.empty((*x.shape[:2], sum(each.shape[1] for each in states)), x.dtype)
    for number, gates in enumerate(x):
        states = step(gates, states)
        found[number] = np.concatenate(states, axis=1)
    return found


def _rnn(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    _, weights, bias, *_ = values
    (f,) = _activations(attributes)
    return _steps(values, lambda x, states: [f(x + states[0] @ weights + bias)])


def _gru(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    _, weights, bias, *_ = values
    hidden, (f, g) = weights.shape[0], _activations(attributes)
    both, last = np.split(weights, [2 * hidden], axis=1)

    def step(x: Array, states: Sequence[Array]) -> Sequence[Array]:
        h = states[0]
        z, r = np.split(f(x[:, : 2 * hidden] + h @ both + bias[: 2 * hidden]), 2, axis=1)
        if attributes["reset_behind"]:
            seen = r * (h @ last + bias[2 * hidden :])
        else:
            seen = (r * h) @ last + bias[2 * hidden :]
        new = g(x[:, 2 * hidden :] + seen)
        return [(1 - z) * new + z * h]

    return _steps(values, step)


def _lstm(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    _, weights, bias, *_ = values
    f, g, h = _activations(attributes)

    def step(x: Array, states: Sequence[Array]) -> Sequence[Array]:
        i, o, forget, c = np.split(x + states[0] @ weights + bias, 4, axis=1)
        cell = f(forget) * states[1] + f(i) * g(c)
        return [f(o) * h(cell), cell]

    return _steps(values, step)


def _activations(attributes: Mapping[str, Any]) -> list[Callable[[Array], Array]]:
    return [ACTIVATIONS[name] for name in attributes["activations"].split()]


def _macs(types: Sequence[TensorType], result: TensorType) -> int:
    del result
    steps, batch, width = types[0].shape
    return steps * batch * width * types[1].shape[0]


def _operator(
    kind: str, compute: Callable[..., Array], doc: str, states: int, **more: Kind
) -> Operator:
    return Operator(
        name=kind,
        doc=doc,
        least=3 + states,
        most=3 + states,
        attributes={"activations": Kind.TEXT, **more},
        infer=_recurrent(kind),
        compute=compute,
        reach=Reach.ALL,
        macs=_macs,
        host=_WAITS,
    )


RECURRENT: Final = (
    _operator("rnn", _rnn, "A recurrent layer: steps a, weights b, bias c, first state d.", 1),
    _operator(
        "gru",
        _gru,
        "Gated recurrent units: gates a of each step, weights b, bias c, first state d.",
        1,
        reset_behind=Kind.BOOL,
    ),
    _operator(
        "lstm",
        _lstm,
        "Long short-term memory: gates a, weights b, bias c, first state d, first cell behind it.",
        2,
    ),
)
"""Recurrent layers; products of their inputs are products of their own."""
