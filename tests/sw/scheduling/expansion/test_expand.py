"""Plans of any graph become programs that mean what the graph means."""

from collections import Counter

import numpy as np
import pytest

from celosia.lab.fuzz.graphs.random_graph import random_case
from celosia.sw.models.cases import encoder_layer_case, random_quantized_encoder
from celosia.sw.planning.choices import ALTERNATIVES, DEFAULT
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.text import parse_plan, print_plan
from celosia.sw.planning.rules.verify import PlanError, verify_plan
from celosia.sw.reference.encoder import EncoderShape
from tests.support.levels import CONFIGS
from tests.sw.planning.edits import edited
from tests.sw.scheduling.expansions import expanded

SHAPE = EncoderShape(layers=2, width=32, heads=2, hidden=64)
CHOICES = [choices for _, _, choices in DEFAULT.others()]


@pytest.mark.parametrize("name", CONFIGS)
def test_any_graph_on_any_accelerator_is_computed(name):
    for seed in range(10):
        case = random_case(seed, combinations=True)
        plan = decide_graph(case.graph, CONFIGS[name])
        expanded(case, CONFIGS[name], parse_plan(print_plan(plan)))


@pytest.mark.parametrize("seed", range(6))
def test_whatever_plan_is_legal_computes_the_same(seed):
    random, rules = np.random.default_rng(seed), Counter[str]()
    config = list(CONFIGS.values())[seed]
    case = random_case(seed + 80, ops=3, combinations=True)
    plan = decide_graph(case.graph, config)
    for _ in range(30):
        other = edited(plan, random)
        try:
            verify_plan(other, case.graph, config)
        except PlanError as error:
            rules[error.rule] += 1
        else:
            expanded(case, config, other)
    assert 0 < rules.total() < 30


@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_whatever_is_chosen_computes_the_same(choices):
    # A spare says nothing where loads do not come by need, and that is the default.
    assert {name for name, *_ in DEFAULT.others()} == {*ALTERNATIVES} - {"spare_tiles"}
    case = encoder_layer_case(random_quantized_encoder(SHAPE, 0), [9, 5, 5], 0)
    config = CONFIGS["tiny"]
    expanded(case, config, decide_graph(case.graph, config, choices))


def test_loads_wait_for_all_that_they_read():
    """A load that does not wait for a store that is under way reads what was there before."""
    case = encoder_layer_case(random_quantized_encoder(SHAPE, 0), [40], 0)
    expanded(case, CONFIGS["base"], decide_graph(case.graph, CONFIGS["base"]))
