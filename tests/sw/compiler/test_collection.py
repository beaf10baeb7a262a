"""Nothing is collected within a pass, and the collector is as it was behind it."""

import gc

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.compiler.collection import uncollected
from celosia.sw.compiler.pipeline import passes
from celosia.sw.models.cases import matmul_case


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_is_as_it_was_also_behind_an_error(on):
    found = []

    def wrong():
        with uncollected():
            found.append(gc.isenabled())
            raise ValueError("wrong")

    try:
        (gc.enable if on else gc.disable)()
        with pytest.raises(ValueError, match="wrong"):
            wrong()
        found.append(gc.isenabled())
    finally:
        gc.enable()
    assert found == [False, on]


def test_whoever_looks_at_a_pass_has_the_collector():
    case = matmul_case(4, 4, 4, 0)
    assert all(gc.isenabled() for _ in passes(case.graph, resolve_config("tiny")))
