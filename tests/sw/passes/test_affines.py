"""Gamma and beta of normalizations as one constant."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.ir.graph import LayerNorm, View
from celosia.sw.models.cases import layernorm_case
from celosia.sw.passes.affines import affine_row, with_affines

TINY = PRESETS["tiny"]


def test_gamma_and_beta_become_a_constant():
    case = layernorm_case(3, 9, seed=2)
    found = with_affines(case.graph, TINY.dim)
    (name,) = set(found.constants) - set(case.graph.constants)
    assert name == "layernorm.affine"
    half, constants = TINY.dim // 2, case.graph.constants
    packed = found.constants[name].reshape(-1, 2, 2, half)
    for number, output in enumerate(("small", "wide")):
        for kind, which in enumerate(("gamma", "beta")):
            row = packed[:, kind, number].reshape(-1)
            assert (row[:9] == constants[f"{output}.{which}"][0]).all()
            assert not row[9:].any()


@pytest.mark.parametrize("dim", [4, 8])
def test_gamma_and_beta_may_be_columns_of_a_wider_tensor(dim):
    graph = layernorm_case(3, 9, seed=1).graph
    (op,) = graph.ops
    assert isinstance(op, LayerNorm)
    wide, outputs = {}, []
    for output in op.outputs:
        views = {"gamma": output.gamma, "beta": output.beta}
        for kind, view in views.items():
            value = graph.constants[view.tensor]
            wide[view.tensor] = np.hstack([value[:, :5] + 1, value, value[:, :2] - 1])
            views[kind] = View(view.tensor, 0, 5, 1, 9)
        outputs.append(replace(output, **views))
    other = replace(graph, constants=wide)
    packed = affine_row(other, replace(op, outputs=tuple(outputs)), dim)
    assert (packed == affine_row(graph, op, dim)).all()
