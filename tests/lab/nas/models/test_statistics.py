"""Ratios with intervals, and ranks."""

import numpy as np
import pytest

from celosia.lab.nas.models.statistics import kendall, kendall_interval, perplexity_ratio


def test_tau_counts_pairs_in_the_same_order():
    """One of six pairs is the other way round; a tie tells nothing."""
    assert kendall([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(4 / 6)
    assert kendall([1, 2, 3], [3, 2, 1]) == -1
    assert kendall([1, 1, 2], [1, 2, 3]) == pytest.approx(2 / np.sqrt(2 * 3))
    assert kendall([1, 1], [1, 2]) == 0


def test_taus_interval_is_around_it():
    found = kendall_interval(range(16), [*range(1, 16), 0])
    assert found.value == pytest.approx((105 - 15) / 120)
    assert -1 <= found.low < found.value < found.high <= 1
    assert kendall_interval(range(16), range(16)).low == 1


def test_a_ratio_that_all_documents_have_is_sure():
    """A model that gives each token e^-0.01 of the probability has e^0.01 of the perplexity."""
    counts = np.array([10, 30, 60])
    theirs = np.stack([-2.0 * counts, -2.0 * counts])
    found = perplexity_ratio(theirs - 0.01 * counts, theirs, counts)
    assert (found.value, found.low, found.high) == pytest.approx((np.exp(0.01),) * 3)


def test_documents_and_seeds_that_differ_make_it_unsure():
    random = np.random.default_rng(1)
    counts = np.full(200, 50)
    theirs = np.tile(random.normal(-100, 30, 200), (3, 1))
    by_document = perplexity_ratio(theirs + random.normal(0, 5, 200), theirs, counts)
    # The mean of 200 differences of 5 in 50 tokens is known to 0.1 / sqrt(200) in logarithms.
    assert by_document.high - by_document.low == pytest.approx(2 * 1.96 * 0.1 / 200**0.5, rel=0.2)
    seeds = theirs + np.array([[-1.0], [0.0], [1.0]])
    by_seed = perplexity_ratio(seeds, theirs, counts)
    assert by_seed.value == pytest.approx(1)
    assert by_seed.low < 0.99
    assert by_seed.high > 1.01
