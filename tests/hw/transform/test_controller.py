"""`TransformController` against the steps that an operation means."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from celosia.hw.decode.transform_op import TransformOp
from celosia.hw.transform.controller import ONE, TransformController
from celosia.hw.vector.modes import Mode
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType, Function
from celosia.isa.functions.table import FUNCTIONS
from celosia.isa.presets import PRESETS
from tests.support.reused_simulator import shared_design
from tests.support.streams import offer_cycles, receive, send, simulate, sometimes

CONFIGS = [
    PRESETS["tiny"],
    AcceleratorConfig(dim=2, accumulator_kib=8),
    AcceleratorConfig(dim=16, accumulator_kib=256, vector_lanes=4),
    AcceleratorConfig(dim=8, accumulator_kib=256, vector_lanes=1),
]
WORDS = {ElementType.INT8: 1, ElementType.UINT8: 1, ElementType.INT16: 2, ElementType.INT32: 4}
HANDED_ON = ("kind", "kind2", "shift", "shift2", "start", "finish")


def random_op(config: AcceleratorConfig, rng: random.Random, function: Function) -> dict:
    layout = TransformOp(config).members
    op: dict[str, Any] = {}
    for name, shape in layout.items():
        if name in {"constants", "norm"}:
            continue
        limit = shape.stop if isinstance(shape, range) else 1 << min(shape_bits(shape), 32)
        op[name] = rng.randrange(limit)
    cols = rng.choice([1, config.dim, rng.randint(1, 5 * config.dim)])
    if FUNCTIONS[function].rotates:
        cols = config.dim * rng.randint(1, 5)
    blocks = cols // config.dim  # Of int16, in half of a row.
    small = {name: rng.randrange(40) for name in ("row", "target", "target2", "residual")}
    strides = {name: rng.choice([1, 3, 9]) for name in layout if name.endswith("stride")}
    types = [ElementType.INT8, ElementType.INT16]
    if function is Function.REQUANTIZE:
        types = list(ElementType)
    return (
        op
        | small
        | strides
        | {
            "halfway": blocks * strides["stride"],
            "residual_halfway": blocks * strides["residual_stride"],
            "function": function,
            "staged": FUNCTIONS[function].staged
            or (FUNCTIONS[function].takes_int16 and rng.randrange(2)),
            "kind": rng.choice(types),
            "kind2": rng.choice(types[:2]),
            "two": function is Function.LAYERNORM and rng.randrange(2),
            "rows": rng.choice([1, 2, 4]),
            "cols": cols,
            "slot": rng.randrange(4),
            "bias_row": rng.randrange(20),
            "scale_row": rng.randrange(20),
            "gamma_row": rng.randrange(20),
            "visible": rng.randint(-2, cols),
            "diagonal": rng.randint(-1, cols + 3),
            "window": rng.choice([0, rng.randint(1, cols)]),
            "ring": rng.choice([0, rng.randint(1, cols)]),
        }
    )


def shown(op: dict, row: int) -> list[bool]:
    """Which columns of a row count."""
    columns = range(op["cols"])
    if not op["causal"]:
        return [column < op["visible"] for column in columns]
    behind = op["diagonal"] + row
    seen = [column < min(op["visible"], behind) for column in columns]
    if op["window"]:
        first = behind - op["window"]
        again = first + op["ring"] if op["ring"] else op["cols"]
        seen = [(s and c >= first) or c >= again for c, s in enumerate(seen)]
    return seen


def shape_bits(shape: Any) -> int:
    return shape if isinstance(shape, int) else shape.width


def expected_steps(config: AcceleratorConfig, op: dict) -> Iterator[dict]:
    traits, dim, staged = FUNCTIONS[op["function"]], config.dim, op["staged"]
    width = dim // 2 if staged else dim
    blocks = -(-op["cols"] // width)
    for r in range(op["rows"]):
        seen = shown(op, r) if traits.masked else [True] * op["cols"]
        if traits.headed:
            header = {"mode": Mode.HEADER, "reads": (), "last_part": 0, "last": 0, "biased": 0}
            raw = False, not traits.rescaled or op["kind"] == ElementType.INT32
            yield header | {"result": 0, "slot": op["slot"] + r, "raw": raw}
        for b in range(blocks):
            left = op["cols"] - b * width
            visible = sum(each << c for c, each in enumerate(seen[b * width :][:width]))
            ends = b == blocks - 1
            common = {
                "slot": op["slot"] + r,
                "first": b == 0,
                "bias_row": op["bias_row"] + b,
                "scale_row": op["scale_row"] + b,
                "gamma_row": op["gamma_row"] + 2 * b,
                "elements": min(left, width),
                "last_part": last_part(config, op, min(left, width)),
                "targets": list(targets(op, r, b, staged=staged)),
            }
            common |= settings(op)
            source = op["row"] + r + b * op["stride"]
            residual = op["residual"] + r + 2 * b * op["residual_stride"]
            last = ends and r == op["rows"] - 1
            if not traits.paired:
                yield common | {
                    "mode": Mode[traits.mode],
                    "reads": (("staged", source),) if staged else (("row", source),),
                    "result": traits.result,
                    "counted": traits.counted,
                    "visible": visible,
                    "span_last": ends and (traits.counted or traits.maximum),
                    "last": last,
                }
                continue
            if staged:
                factor = op["residual"] + r + b * op["residual_stride"]
                parts = turns(op, r, b) or (("KEEP", source, 0), (str(traits.second), factor, 1))
                for number, (mode, row, second) in enumerate(parts, 1):
                    result = number == len(parts)
                    yield (
                        common
                        | {
                            "mode": Mode[mode],
                            "reads": (("staged", row),),
                            "result": result,
                            "counted": result and traits.moments and op["moments"],
                            "visible": visible,
                            "span_last": ends and result and traits.moments and op["moments"],
                            "last": last and result,
                            "by_column": (0, 0),
                        }
                        | ({"scale": op["scale2"]} if second else {})
                    )
                continue
            yield common | {
                "mode": Mode.KEEP,
                "reads": (("row", source), ("staged", residual)),
                "result": 0,
                "counted": 0,
                "last": 0,
            }
            yield common | {
                "mode": Mode.ADD,
                "reads": (("staged", residual + op["residual_stride"]),) * (left > dim // 2),
                "result": 1,
                "counted": op["moments"],
                "visible": visible,
                "span_last": ends and op["moments"],
                "scale": op["scale2"],
                "last": last,
                "biased": 0,
                "by_column": (0, 0),
            }


def turns(op: dict, r: int, b: int) -> tuple[tuple[str, int, int], ...]:
    """The steps of a block that is rotated: mode, local row, and whether it is of the table."""
    if not FUNCTIONS[op["function"]].rotates:
        return ()
    half = op["halfway"] // op["stride"]
    a, cos = b % half, op["residual"] + r + b % half * op["residual_stride"]
    x, y = (op["row"] + r + block * op["stride"] for block in (a, a + half))
    sin = cos + half * op["residual_stride"]
    if b < half:
        return ("KEEP", x, 0), ("MULTIPLY", cos, 1), ("KEEP", y, 0), ("DIFFERENCE", sin, 1)
    return ("KEEP", y, 0), ("MULTIPLY", cos, 1), ("KEEP", x, 0), ("SUM", sin, 1)


def last_part(config: AcceleratorConfig, op: dict, elements: int) -> int:
    """The part of a row with its last element, the second result's if there are two."""
    traits = FUNCTIONS[op["function"]]
    if traits.maximum:
        return 0
    if op["staged"] and op["two"]:
        elements += config.dim // 2
    return -(-elements // config.lanes) - 1


def settings(op: dict) -> dict:
    """What steps for blocks hand on to the lanes."""
    traits = FUNCTIONS[op["function"]]
    return {name: op[name] for name in HANDED_ON} | {
        "biased": op["bias"] and not op["staged"],
        "by_column": (
            op["column_scale"] and traits.column_scaled and not op["staged"],
            op["column_scale"] and traits.column_rescaled,
        ),
        "scale": ONE if traits.masked and op["staged"] else op["scale"],
        "raw": (
            not traits.scaled,
            not traits.rescaled or op["kind"] == ElementType.INT32,
        ),
        "rescaled": {
            "scale": op["scale" if traits.column_rescaled else "scale2"],
            "zero_point": op["zero_point"],
            "relu": op["relu"] and traits.column_rescaled,
            "kind": op["kind"],
        },
    }


def targets(op: dict, r: int, b: int, *, staged: bool) -> Iterator[tuple]:
    """Row and half of each result of block b of row r."""
    pairs = [("target", "kind")] + [("target2", "kind2")] * op["two"]
    for name, kind in pairs:
        bytes_only = op[kind] != ElementType.INT16
        blocks, upper = (b // 2, b % 2) if staged and bytes_only else (b, 0)
        words = 1 if staged else WORDS[ElementType(op[kind])]
        yield op[name] + r + blocks * words * op[f"{name}_stride"], upper


def seen_step(step: Any) -> dict:
    lane = step.lane
    reads = [("row", step.row)] * step.accumulator + [("staged", step.staged_row)] * step.scratchpad
    places = [step.target] + [step.target2] * step.target2.valid
    return {
        "mode": Mode(lane.mode),
        "reads": tuple(reads),
        "result": lane.result,
        "counted": lane.counted,
        "visible": lane.visible,
        "slot": lane.span.slot,
        "first": lane.span.first,
        "span_last": lane.span.last,
        "bias_row": step.bias_row,
        "scale_row": lane.scaling.scale_row,
        "gamma_row": lane.gamma_row,
        "scale": lane.scaling.scale,
        **{name: lane[name] for name in ("kind", "kind2", "shift", "shift2")},
        **{name: lane.span[name] for name in ("start", "finish")},
        "biased": lane.biased,
        "by_column": (lane.scaling.by_column, lane.scaling2.by_column),
        "raw": (lane.scaling.raw, lane.scaling2.raw),
        "rescaled": {name: lane.scaling2[name] for name in ("scale", "zero_point", "relu", "kind")},
        "elements": step.target.elements,
        "last_part": lane.last_part,
        "targets": [(place.row, place.upper) for place in places],
        "last": step.last,
    }


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"dim{c.dim}")
@pytest.mark.parametrize("function", Function)
def test_walks_every_block_of_every_row_under_stalls(config, function):
    rng = random.Random(function)
    dut, ops = (
        shared_design(TransformController, config),
        [random_op(config, rng, function) for _ in range(6)],
    )
    expected = [step for op in ops for step in expected_steps(config, op)]

    async def producer(ctx):
        await send(ctx, dut.op, ops, sometimes(function))

    async def consumer(ctx):
        for number, want in enumerate(expected):
            (step,) = await receive(ctx, dut.steps, 1, sometimes(number))
            seen = seen_step(step)
            assert {name: seen[name] for name in want if name != "targets" or want["result"]} == {
                name: value for name, value in want.items() if name != "targets" or want["result"]
            }, number

    simulate(dut, producer, consumer)


def test_takes_the_next_operation_with_the_last_step():
    config = PRESETS["tiny"]
    rng = random.Random(1)
    functions = (Function.EXPONENT, Function.RESIDUAL, Function.GELU, Function.LAYERNORM)
    ops = [random_op(config, rng, function) for function in functions]
    dut = shared_design(TransformController, config)
    count = sum(len(list(expected_steps(config, op))) for op in ops)
    assert offer_cycles(dut, dut.op, ops, dut.steps, count + 3) == [1 + n for n in range(count)]
