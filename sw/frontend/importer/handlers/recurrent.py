"""Recurrent layers of ONNX: products of their inputs, and steps that wait for each other."""

from typing import Final

from celosia.sw.frontend.importer.handlers.layout import part
from celosia.sw.frontend.importer.handlers.products import matmul, swapped
from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.nn.operators.operator import expect
from celosia.sw.frontend.nn.operators.recurrent import ACTIVATIONS, GATES

__all__ = ["RECURRENT"]

RECURRENT: Final = Handlers()

_DEFAULTS: Final = {
    "rnn": ["Tanh"],
    "gru": ["Sigmoid", "Tanh"],
    "lstm": ["Sigmoid", "Tanh", "Tanh"],
}
_STATES: Final = {"rnn": 1, "gru": 1, "lstm": 2}
_WAYS: Final = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}


@RECURRENT.of(
    "LSTM", "GRU", "RNN", but="texts of several lengths, peepholes, clipping, rarer activations"
)
def _recurrent(call: Call) -> list[str | None]:
    kind = call.node.op_type.lower()
    way = call.attribute("direction", "forward")
    expect(way in _WAYS, f"its direction {way!r} is unknown")
    x, (w, r) = call[0], (call.type(index) for index in (1, 2))
    expect(call.type(0).rank == w.rank == r.rank == 3, f"{call.type(0)}, {w} and {r} are no layer")
    behind = call.attribute("layout", 0)  # Texts are outermost, not steps.
    if behind:
        x = call.op("transpose", x, permutation=(1, 0, 2))
    steps, batch, _ = call.build.type(x).shape
    _check(call, kind, steps)
    hidden = call.type(2).shape[-1]
    call.ignore("hidden_size")
    functions = _functions(call, kind, len(_WAYS[way]))
    found = [
        _direction(call, kind, x, index, functions[index], backwards=backwards)
        for index, backwards in enumerate(_WAYS[way])
    ]
    # Every step's states, (steps, directions, texts, columns), and those of the last step read.
    whole = [call.reshape(each, (steps, 1, batch, hidden)) for each, *_ in found]
    results = [call.op("concat", *whole, axis=1)]
    for state in range(_STATES[kind]):
        last = [call.reshape(each[1 + state], (1, batch, hidden)) for each in found]
        results.append(call.op("concat", *last, axis=0))
    if not behind:
        return [*results]
    orders = [(2, 0, 1, 3), *[(1, 0, 2)] * _STATES[kind]]
    pairs = zip(results, orders, strict=True)
    return [call.op("transpose", each, permutation=order) for each, order in pairs]


def _check(call: Call, kind: str, steps: int) -> None:
    """Raise `Refusal` for what is not supported."""
    if call.optional(4) is not None:
        lengths = call.build.value(call[4])
        if lengths is None or (lengths != steps).any():
            raise Refusal("texts of several lengths are not supported")
    if kind == "lstm" and call.optional(7) is not None:
        peepholes = call.build.value(call[7])
        if peepholes is None or peepholes.any():
            raise Refusal("peepholes are not supported")
    if call.attribute("input_forget", 0):
        raise Refusal("gates that share a product are not supported")


def _functions(call: Call, kind: str, ways: int) -> list[str]:
    """The activations of each direction."""
    names = [*call.attribute("activations", ())] or _DEFAULTS[kind] * ways
    each = len(_DEFAULTS[kind])
    expect(len(names) == each * ways, f"its activations {names} are not {each * ways}")
    unknown = [name for name in names if name.lower() not in ACTIVATIONS]
    if unknown:
        raise Refusal(f"its activation {unknown[0]} is not supported")
    lower = [name.lower() for name in names]
    return [" ".join(lower[at * each : (at + 1) * each]) for at in range(ways)]


def _direction(
    call: Call, kind: str, x: str, index: int, functions: str, *, backwards: bool
) -> list[str]:
    """The states of each step in one direction, and those of the last step that it reads."""
    steps, batch, _ = call.build.type(x).shape
    hidden, width = call.type(2).shape[-1], GATES[kind] * call.type(2).shape[-1]

    def one(operand: int) -> str:
        return part(call, call[operand], 0, index, 1)

    weights, recurrent = (
        swapped(call, call.reshape(one(each), call.type(each).shape[1:])) for each in (1, 2)
    )
    gates = matmul(call, x, weights)
    bias = call.op("broadcast", call.scalar(0, x), shape=(width,))
    if call.optional(3) is not None:
        both = call.reshape(one(3), (2, width))
        first, bias = (call.reshape(part(call, both, 0, at, 1), (width,)) for at in (0, 1))
        gates = call.op("add", gates, first)
    if backwards:
        gates = _turned(call, gates)
    zeros = call.op("broadcast", call.scalar(0, x), shape=(batch, hidden))
    states = [
        zeros
        if call.optional(at) is None
        else call.reshape(_state(call, at, index), (batch, hidden))
        for at in range(5, 5 + _STATES[kind])
    ]
    attributes: dict[str, object] = {"activations": functions}
    if kind == "gru":
        attributes["reset_behind"] = bool(call.attribute("linear_before_reset", 0))
    found = call.op(kind, gates, recurrent, bias, *states, **attributes)
    last = part(call, found, 0, steps - 1, 1)
    ends = [part(call, last, 2, at * hidden, hidden) for at in range(_STATES[kind])]
    every = part(call, found, 2, 0, hidden)
    return [_turned(call, every) if backwards else every, *ends]


def _state(call: Call, operand: int, index: int) -> str:
    """The first state of a direction, which is outermost unless texts are."""
    return part(call, call[operand], 1 if call.attribute("layout", 0) else 0, index, 1)


def _turned(call: Call, x: str) -> str:
    """`x` from its last step to its first."""
    steps, *rest = call.build.type(x).shape
    starts, zeros = max(0, steps - 1), (0,) * len(rest)
    return call.op(
        "slice", x, starts=(starts, *zeros), sizes=(steps, *rest), steps=(-1, *(1 for _ in rest))
    )
