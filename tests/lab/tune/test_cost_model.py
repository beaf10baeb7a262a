"""Models of how far the timeline is off: from samples that were made up."""

import numpy as np
import pytest

from celosia.lab.tune.cost_model import Linear, Sample, TimelineAlone
from celosia.lab.tune.features import FEATURES, Seen


def seen(**given: float) -> Seen:
    return Seen(1000, dict.fromkeys(FEATURES, 1.0) | given)


def samples(count: int) -> list[Sample]:
    """Plans that take 10 % more than the timeline says, for each load."""
    numbers = np.linspace(-1, 1, count)
    return [Sample(seen(loads=float(n)), round(1000 * 1.1**n)) for n in numbers]


def test_the_timeline_alone_learns_nothing():
    model = TimelineAlone().fit(samples(20))
    assert [*model.residuals([seen(loads=1), seen(loads=-1)])] == [0, 0]


def test_a_linear_model_learns_more_from_more_runs():
    off = [Linear().fit(samples(n)).residuals([seen(loads=1)])[0] for n in (0, 20, 20000)]
    assert off[0] == 0
    assert 0 < off[1] < off[2] == pytest.approx(np.log(1.1), rel=0.05)


def test_a_plan_unlike_all_that_ran_is_not_told_wild_numbers():
    model = Linear().fit(samples(2000))
    far, further = model.residuals([seen(loads=9), seen(loads=900)])
    assert far == further < 0.3


def test_samples_know_how_far_off_the_timeline_was():
    assert Sample(seen(), 1000).residual == 0
    assert Sample(seen(), 1100).residual == pytest.approx(0.09531, abs=1e-5)
