"""Programs as texts, and what their loops stand for."""

from celosia.isa.encoding import CONFIG_PRODUCTS, FENCE, PRODUCTS, REPEAT
from celosia.isa.presets import PRESETS
from celosia.sim.web.programs import MACHINES, PROGRAMS
from celosia.sim.web.watchable import WATCHED, WATCHED_CYCLES, WATCHED_PRESET, listing


def test_each_expanded_command_has_the_number_of_its_source():
    program = [REPEAT.encode(count=3, length=1), FENCE.encode(), FENCE.encode()]
    found = listing(program, PRESETS["tiny"])
    assert found["texts"] == ["repeat count=3 length=1", "fence", "fence"]
    assert found["sources"] == [1, 1, 1, 2]


def test_an_endless_program_is_listed_as_far_as_it_runs():
    program = [REPEAT.encode(count=65535, length=2), REPEAT.encode(count=65535, length=1)]
    found = listing([*program, FENCE.encode()], PRESETS["tiny"])
    assert len(found["texts"]) == 3
    assert len(found["sources"]) == WATCHED_CYCLES


def test_products_stand_for_a_preload_and_a_compute_each():
    program = [
        CONFIG_PRODUCTS.encode(a_k=4, w_k=4, w_column=4, c_column=4),
        PRODUCTS.encode(rows=4, k=1, pieces=1, columns=2, last_depth=4, last_cols=4),
    ]
    assert listing(program, PRESETS["tiny"])["sources"] == [1, 1, 1, 1]


def test_programs_and_accelerator_are_those_of_the_page():
    assert set(WATCHED) <= set(PROGRAMS)
    assert WATCHED_PRESET in [each.preset for each in MACHINES]
