"""Schedules of any program: what follows from dependences, and when drains and loads come."""

from functools import partial

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.graphs.random_graph import random_case
from celosia.sw.ir.program import Load, Products
from celosia.sw.models.cases import attention_case, encoder_layer_case, random_quantized_encoder
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.reference.encoder import EncoderShape
from celosia.sw.scheduling.schedule import MAX_LEAD, schedule
from tests.support.levels import CONFIGS
from tests.sw.scheduling.expansions import check_order, check_scheduled, program

TINY = resolve_config("tiny")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("choices", [DEFAULT, Choices(overlap=False, block_tiles=1)], ids=str)
def test_a_scheduled_program_means_the_same(seed, choices):
    check_scheduled(random_case(seed), TINY, choices, partial(schedule, overlap=choices.overlap))


@pytest.mark.parametrize("name", CONFIGS)
def test_any_graph_on_any_accelerator_means_the_same(name):
    config = CONFIGS[name]
    extent = min(70, 10 * config.dim)  # So many tiles, and ragged ones.
    for seed in range(40, 44):
        check_scheduled(random_case(seed, extent=extent), config, DEFAULT, schedule)


def test_a_layer_means_the_same():
    model = random_quantized_encoder(EncoderShape(layers=2, width=32, heads=2, hidden=64), 0)
    check_scheduled(encoder_layer_case(model, [9, 5], 0), TINY, DEFAULT, schedule)


def test_what_depends_on_each_other_keeps_its_order():
    check_order(random_case(3, ops=8), TINY, DEFAULT, schedule)


def test_without_overlap_only_loads_move():
    before = program(random_case(3, ops=8), TINY)
    after = schedule(before, TINY, overlap=False)
    still = [[w for w in ops if not is_load(w.op)] for ops in (before, after)]
    assert still[0] == still[1]
    assert before != after


def test_a_load_comes_ahead_of_its_product_but_not_too_far():
    case = attention_case(1, 300, 64, 0)
    base = resolve_config("base")
    clock, loaded, leads = 0, {}, []
    for written in schedule(program(case, base), base):
        match written.op:
            case Load() as load:
                loaded.update(dict.fromkeys(range(load.to.row, load.to.end), clock))
            case Products() as nest:
                if nest.w in loaded:  # Else it is there since an earlier nest.
                    leads.append(clock - loaded.pop(nest.w))
                clock += nest.rows * nest.count
            case _:
                pass
    assert np.median(leads) >= 64
    assert sum(lead <= 2 * MAX_LEAD for lead in leads) >= len(leads) // 2


def is_load(op):
    return isinstance(op, Load) or type(op).__name__ == "LoadParameters"
