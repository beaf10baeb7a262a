"""Windows of a text, priced by the energies of another."""

import numpy as np
import pytest

from celosia.sim.export.silicon.checks.agreement import agreements, priced
from celosia.sim.export.silicon.power.fit import IDLE, Window
from tests.sim.export.silicon.power.test_table_file import BESIDE, MESH, sample


def test_windows_by_energies():
    events = {"mac": np.array([0.0, 3.0, 1.0]), "other": np.ones(3)}
    assert priced([Window(events, np.zeros(3))], {"mac": 2.0, IDLE: 5.0}) == 4 * 2.0 + 3 * 5.0


def test_texts_of_the_same_energies_agree():
    found = agreements([[sample(1, 3.0)], [sample(2, 3.0)]], BESIDE)
    together = [each for each in found if not each.meaning]
    assert [(each.of, each.by) for each in together] == [(0, 1), (1, 0)]
    # All but what is not over yet when the window ends.
    assert all(abs(each.apart) < 0.06 for each in together)


def test_a_text_whose_array_takes_twice_as_much():
    found = agreements([[sample(1, 2.0)], [sample(2, 4.0)]], BESIDE)
    mesh = {each.of: each for each in found if each.meaning == MESH}
    idle = 512 * 7.0
    for of, factor in ((0, 2.0), (1, 0.5)):
        ideal = (mesh[of].measured_pj - idle) * factor + idle
        assert mesh[of].priced_pj == pytest.approx(ideal, rel=0.06)
    others = [each for each in found if each.meaning not in ("", MESH)]
    assert {each.apart for each in others} == {0.0}


def test_one_text_has_nothing_to_compare_with():
    assert agreements([[sample(1, 2.0)]], BESIDE) == []
