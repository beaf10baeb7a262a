"""Ranges, weights, normalizations, smoothing and outliers, each by itself."""

import numpy as np
import pytest

from celosia.isa import numerics
from celosia.sw.quantize.curves import Computed, center
from celosia.sw.quantize.linear import quantize_linear
from celosia.sw.quantize.norm import quantize_norm
from celosia.sw.quantize.ranges import (
    best_step,
    column_ranges,
    int16_step,
    least_error,
    sample_rows,
)
from celosia.sw.quantize.rounding import correlation, round_weights, searched_weights
from celosia.sw.quantize.smooth import choose_smoothing, smoothing_factors, weight_factors
from celosia.sw.quantize.spread import HiddenRange, best_range, spread_outliers
from celosia.sw.reference.encoder import Linear, Norm, gelu

RANDOM = np.random.default_rng(0)


def floats(*values):
    return np.array(values, np.float32)


def normal(*shape, spread=1.0):
    return (RANDOM.standard_normal(shape) * spread).astype(np.float32)


def test_a_step_clips_an_outlier_but_not_a_spread():
    even = np.linspace(-1, 1, 255, dtype=np.float32)
    assert best_step(even) == pytest.approx(1 / 127)
    outlier = np.concatenate([np.tile(even, 100), [np.float32(3)]])
    assert best_step(outlier) < 3 / 127
    assert best_step(np.zeros(3, np.float32)) == 1.0


def test_what_a_column_is_worth_decides_whether_its_outlier_is_clipped():
    x = normal(40_000, 2)
    x[:, 1] = 0
    x[0, 1] = 12
    steps = [best_step(x, floats(1, w)) for w in (1, 1000)]
    assert steps[0] < steps[1]


def test_the_error_of_a_row_is_what_rounding_and_clipping_lose():
    x, worth = normal(400, 3), floats(1, 2, 7)
    x[0, 2] = 40
    step, error = least_error(x, worth)
    lost = np.clip(np.rint(x / step), -127, 127) * step - x
    assert error == pytest.approx(np.square(lost).mean(axis=0) @ worth, rel=1e-4)


def test_columns_of_few_rows_have_the_range_of_more():
    x = normal(60, 500)
    assert column_ranges(x).min() > 3
    assert np.median(column_ranges(x)) == pytest.approx(4, abs=0.3)
    x[3, 7] = -50
    assert column_ranges(x)[7] == 50
    assert column_ranges(x[:0]).tolist() == [0] * 500


def test_rounded_weights_make_each_others_errors_good():
    """Inputs that are alike let the next weight take what one has lost."""
    x = normal(600, 1) + normal(600, 40, spread=0.3)
    weights = np.random.default_rng(1).uniform(-127, 127, (40, 9))
    whole = round_weights(weights, correlation(x))
    assert (whole == np.rint(whole)).all()
    assert np.abs(whole).max() <= 127
    plain, better = (np.square(x @ (each - weights)).sum() for each in (np.rint(weights), whole))
    assert better < plain / 4
    assert np.abs(whole - weights).max() < 20


def test_steps_of_few_values_are_searched_until_no_output_loses_more():
    random = np.random.default_rng(1)
    x = (random.normal(size=(600, 1)) + random.normal(0, 0.6, (600, 40))).astype(np.float32)
    weights = random.normal(0, 2, (40, 9))
    weights[:, 8] = 0
    steps, inputs = np.abs(weights).max(axis=0) / 10 + (weights == 0).all(axis=0), correlation(x)
    whole = round_weights(weights / steps, inputs, 7)
    found, fitted = searched_weights(weights, steps, inputs, 7)
    assert (found == np.rint(found)).all()
    assert np.abs(found).max() <= 7
    before, behind = (x @ (weights - e * s) for e, s in ((whole, steps), (found, fitted)))
    before, behind = np.square(before).sum(axis=0), np.square(behind).sum(axis=0)
    assert (behind <= before * 1.02).all(), "but for damping"
    assert behind.sum() < 0.85 * before.sum()
    assert (fitted[8] > 0, found[:, 8].any()) == (True, False)


def test_inputs_that_are_always_0_do_not_matter():
    x = normal(50, 6)
    x[:, 2] = 0
    for rows in (x, np.zeros_like(x)):
        whole = round_weights(np.full((6, 2), 3.3), correlation(rows))
        assert np.isfinite(whole).all()
        assert whole[2].tolist() == [3, 3]


def test_int16_has_headroom():
    assert int16_step(floats(-2, 1)) * 32767 == pytest.approx(3)
    assert int16_step(np.zeros(2, np.float32)) > 0


def test_a_sample_is_always_the_same():
    x = normal(50, 2)
    assert sample_rows(x, 50) is x
    assert (sample_rows(x, 9) == sample_rows(x, 9)).all()
    assert len(sample_rows(x, 9)) == 9


def test_a_product_keeps_its_meaning():
    linear = Linear(normal(30, 8), normal(8))
    steps = RANDOM.uniform(0.01, 0.02, 30)
    integer = quantize_linear(linear, steps)
    assert (np.abs(integer.weights).max(axis=0) == 127).all()
    x = RANDOM.integers(-127, 128, (20, 30)).astype(np.int8)
    found = numerics.matmul(x, integer.weights, integer.bias) * integer.steps
    assert np.abs(found - linear((x * steps).astype(np.float32))).max() < 0.2


def test_a_zero_point_is_folded_into_the_bias():
    linear = Linear(normal(30, 8), normal(8))
    plain, shifted = quantize_linear(linear, 0.02), quantize_linear(linear, 0.02, 9)
    x = RANDOM.integers(0, 118, (5, 30)).astype(np.uint8)
    moved = numerics.matmul((x + 9).astype(np.uint8), shifted.weights, shifted.bias)
    assert (moved == numerics.matmul(x, plain.weights, plain.bias)).all()


def test_an_output_without_weights_keeps_its_bias():
    weights = normal(4, 3)
    weights[:, 1] = 0
    weights[:, 2] = 1e-30
    integer = quantize_linear(Linear(weights, floats(1, -2, 3)), 0.1)
    assert integer.bias * integer.steps == pytest.approx([1, -2, 3], rel=1e-2)


@pytest.mark.parametrize("small", [True, False])
def test_a_normalization_keeps_its_meaning(small):
    norm = Norm(normal(48), normal(48))
    norm.gamma[3] = 0
    step = 8 / 127 if small else 8 / 32767
    kind = np.int8 if small else np.int16
    arrays = quantize_norm("n", norm, np.full(48, step))
    affine = numerics.Affine(
        arrays["n.gamma"][0], arrays["n.beta"][0], int(arrays["n.shift"]), kind
    )
    q = np.rint(normal(9, 48, spread=3000)).astype(np.int16)
    found = numerics.layernorm(q, affine) * step
    assert np.abs(found - norm(q.astype(np.float32))).max() < step / 2 + 2e-3


def test_a_normalization_that_fits_no_integer_is_an_error():
    with pytest.raises(ValueError, match="n: gamma or beta does not fit"):
        quantize_norm("n", Norm(floats(1e9), floats(0)), 1e-6)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("beside", [-1, 0, 1])
@pytest.mark.parametrize("part", ["gamma", "beta"])
def test_powers_of_two_and_their_neighbors_fit_a_normalization(part, beside, sign):
    """The largest number takes more than half of its type's range, and keeps sign and size."""
    top = {"gamma": 1 << 15, "beta": 1 << 31}[part]
    for exponent in range(-12, 10):
        value = np.nextafter(np.float32(2.0**exponent), np.float32(beside * np.inf))
        if not beside:
            value = np.float32(2.0**exponent)
        # Of 16 columns and this step, gamma is what it was, and as much smaller as beta is.
        step = 4 / (1 << numerics.NORMALIZED_FRACTION_BITS) if part == "gamma" else 1.0
        values = {"gamma": np.zeros(16, np.float32), "beta": np.zeros(16, np.float32)}
        values[part][3] = sign * value
        arrays = quantize_norm("n", Norm(values["gamma"], values["beta"]), step)
        found, shift = int(arrays[f"n.{part}"][0, 3]), int(arrays["n.shift"])
        assert found / 2**shift == pytest.approx(float(sign * value), rel=2**-13)
        assert abs(found) < top
        assert abs(found) * 2 >= top - 1 or shift == 31


def test_smoothing_moves_range_into_weights():
    x, weights = normal(400, 16), normal(16, 24, spread=0.2)
    x[:, 5] *= 40
    factors = smoothing_factors(np.abs(x).max(axis=0), weights, 0.5)
    assert factors.argmax() == 5
    assert np.log(factors).mean() == pytest.approx(0, abs=1e-5)
    smoothing = choose_smoothing(x, weights)
    real = x @ weights
    smooth = np.clip(np.rint(x / smoothing.steps), -127, 127) * smoothing.steps
    plain = np.clip(np.rint(x / best_step(x)), -127, 127) * best_step(x)
    error, plain_error = (np.square(y @ weights - real).sum() for y in (smooth, plain))
    assert error < plain_error / 10


def test_smoothing_survives_a_dead_channel():
    x, weights = normal(50, 4), normal(4, 6)
    x[:, 2] = 0
    weights[3] = 0
    assert np.isfinite(choose_smoothing(x, weights).steps).all()


def test_a_hidden_range_holds_gelu_s_least_value():
    hidden = HiddenRange.up_to(6.0)
    assert hidden.limit == pytest.approx(6, abs=hidden.step)
    assert -hidden.zero_point * hidden.step < -0.16


def network(outliers):
    """A feed-forward network whose channel 7 is large on a few tokens."""
    up = Linear(normal(16, 64, spread=0.3), normal(64, spread=0.1))
    down = Linear(normal(64, 16, spread=0.3), normal(16))
    x = normal(1000, 16)
    if outliers:
        down.weights[40:] *= 0.01
        up.weights[:, 7] = 0
        up.weights[0, 7] = 30
        x[:, 0] = 0
        x[::50, 0] = 1
    return up, down, x


def hidden_error(up, down, hidden_range, x, real):
    hidden = gelu(up(x)) / hidden_range.step
    hidden = np.clip(np.rint(hidden) + hidden_range.zero_point, 0, 255) - hidden_range.zero_point
    return np.square(down((hidden * hidden_range.step).astype(np.float32)) - real).mean()


def test_outliers_are_spread_over_channels_that_matter_least():
    up, down, x = network(outliers=True)
    hidden = gelu(up(x))
    real = down(hidden)
    spread = spread_outliers(up, down, hidden)
    assert spread.up.weights.shape == up.weights.shape
    copies = np.flatnonzero((spread.up.weights == up.weights[:, [7]]).all(axis=0))
    assert 7 in copies
    assert len(copies) >= 4
    assert (np.diff(np.sort(spread.up.bias[copies])) > spread.range.limit * 0.99).all()
    assert (spread.down.weights[copies] == down.weights[7]).all()
    assert spread.range.limit < 10
    plain = hidden_error(up, down, HiddenRange.up_to(float(hidden.max())), x, real)
    clipped = hidden_error(up, down, spread.range, x, real)
    assert hidden_error(spread.up, spread.down, spread.range, x, real) < min(plain, clipped) / 2


def test_an_outlier_may_be_a_quarter_larger_than_those_that_were_seen():
    up, down, x = network(outliers=True)
    hidden = gelu(up(x))
    for size in np.linspace(0.7, 1.3, 13):
        seen = hidden.copy()
        seen[:, 7] *= np.float32(size)
        spread = spread_outliers(up, down, seen)
        assert 7 in spread.copies
        for channel, copies in spread.copies.items():
            top = 1.25 * seen[:, channel].max()
            # No channel is given up for more than that, and none is missing.
            assert len(copies) * spread.range.limit < top <= (1 + len(copies)) * spread.range.limit


def test_nothing_is_spread_without_outliers():
    up, down, x = network(outliers=False)
    spread = spread_outliers(up, down, gelu(up(x)))
    assert (spread.up.weights == up.weights).mean() > 0.9


def test_the_mean_error_of_gelu_is_taken_out():
    up, down, x = network(outliers=True)
    entering = up(x)
    hidden = gelu(entering)
    spread = spread_outliers(up, down, hidden)
    centered = center(spread, down, entering, hidden, Computed("gelu"))

    def mean_error(linear):
        whole = np.clip(np.rint(spread.up(x) * 1024), -32768, 32767).astype(np.int16)
        found = np.minimum(numerics.raw_gelu(whole) * numerics.GELU_SCALE, spread.range.limit)
        return np.abs((linear(found.astype(np.float32)) - down(hidden)).mean(axis=0)).max()

    assert mean_error(centered) < mean_error(spread.down) / 5
    assert (centered.weights == spread.down.weights).all()


def test_what_enters_gelu_follows_the_spread_weights():
    up, down, x = network(outliers=True)
    spread = spread_outliers(up, down, gelu(up(x)))
    channels = [one for key, copies in spread.copies.items() for one in (key, *copies)]
    entering = spread.entering(up(x))
    assert np.abs(entering - spread.up(x))[:, channels].max() < 1e-4


def test_factors_for_weights_alone_make_rounding_them_cost_less():
    random = np.random.default_rng(5)
    x = random.standard_normal((500, 64)).astype(np.float32)
    x[:, 3] *= 16
    weights = random.standard_normal((64, 32)).astype(np.float32)

    def lost(factors):
        scaled = weights * factors[:, np.newaxis]
        steps = np.abs(scaled).max(axis=0) / 127
        errors = np.rint(scaled / steps) * steps - scaled
        return float(np.square((x / factors) @ errors).sum())

    factors = weight_factors(x, weights)
    assert 1.2 < factors[3] / np.median(factors) < 5
    assert lost(factors) < 0.7 * lost(np.ones(64, np.float32))


@pytest.mark.parametrize("rows", [0, 5])
def test_a_range_of_nothing_but_zeros_has_a_step(rows):
    found = best_range(np.zeros((rows, 3), np.float32), 0.0)
    assert 0 < found.step < 1e-6
    assert found.zero_point == 0
