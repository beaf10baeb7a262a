"""Models with something changed at random are imported and run, or refused; never anything else."""

import random
from functools import cache

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto

from celosia.sw.frontend.importer.import_model import translate
from celosia.sw.frontend.importer.source.model_file import checked_model
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import GraphError
from tests.sw.frontend.importer.node_cases import cases
from tests.sw.frontend.importer.test_node_cases import TRANSFORMERS

WHOLE = (0, -1, 1, 2, 3, 7, -3, 10**6, 2**31, 2**62, -(2**63))
REAL = (0.0, -1.0, 1e30, float("inf"), float("nan"))
TEXTS = (b"", b"\xff", b"none", b"VALID")
SIZES = (0, 1, 2, 3, 5, 8)
TYPES = (1, 2, 3, 6, 7, 9, 10, 11, 16)


@cache
def models(every: bool) -> list[ModelProto]:
    found = [case.model for case in cases(() if every else TRANSFORMERS)]
    return [model for model in found if model.graph.node and model.graph.input]


def change_attribute(rng: random.Random, model: ModelProto) -> None:
    attributes = [each for node in model.graph.node for each in node.attribute]
    if not attributes:
        return
    changed = rng.choice(attributes)
    match changed.type:
        case AttributeProto.INT:
            changed.i = rng.choice(WHOLE)
        case AttributeProto.FLOAT:
            changed.f = rng.choice(REAL)
        case AttributeProto.STRING:
            changed.s = rng.choice(TEXTS)
        case AttributeProto.INTS:
            changed.ints[: rng.randrange(3)] = [rng.choice(WHOLE) for _ in range(rng.randrange(3))]
        case _:
            changed.type = AttributeProto.INT


def change_input(rng: random.Random, model: ModelProto) -> None:
    kind = rng.choice(model.graph.input).type.tensor_type
    match rng.randrange(4):
        case 0:
            kind.elem_type = rng.choice(TYPES)
        case 1 if kind.shape.dim:
            del kind.shape.dim[-1]
        case 2 if kind.shape.dim:
            rng.choice(kind.shape.dim).dim_value = rng.choice(SIZES)
        case _:
            kind.shape.dim.add().dim_value = rng.choice(SIZES)


def change_node(rng: random.Random, model: ModelProto, others: list[ModelProto]) -> None:
    node = rng.choice(model.graph.node)
    names = ["", *(value.name for value in model.graph.input), *node.output]
    match rng.randrange(3):
        case 0:
            node.op_type = rng.choice(others).graph.node[0].op_type
        case 1 if node.input:
            node.input[rng.randrange(len(node.input))] = rng.choice(names)
        case _:
            node.input.append(rng.choice(names))


def attempt(seed: int, every: bool) -> bool:
    """Whether a model that was changed at random still runs."""
    rng, others = random.Random(seed), models(every)
    model = ModelProto()
    model.CopyFrom(rng.choice(others))
    for _ in range(rng.randrange(1, 4)):
        match rng.randrange(3):
            case 0:
                change_attribute(rng, model)
            case 1:
                change_input(rng, model)
            case _:
                change_node(rng, model, others)
    try:
        found = translate(checked_model(model), {})
        graph = found.graph
        interpret(graph, {n: np.ones(kind.shape, kind.dtype) for n, kind in graph.inputs.items()})
    except (ImportProblem, GraphError, MemoryError):
        return False
    return not found.lost


def test_models_of_what_transformers_consist_of():
    assert 50 < sum(attempt(seed, every=False) for seed in range(400)) < 350


@pytest.mark.slow
def test_models_of_all_operators():
    assert sum(attempt(seed, every=True) for seed in range(10_000)) > 500
