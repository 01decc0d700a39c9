import numpy as np
import pytest

from keras_vit.training.prepared import prepared
from keras_vit.training.rate_finder import RateSearch, find_rate


def test_the_suggestion_is_where_the_loss_falls_fastest():
    rates = np.geomspace(1e-5, 1, 101)
    # A fall by a step at 1e-3, and a rise from 1e-1 on.
    losses = 2 - np.tanh(3 * np.log10(rates / 1e-3)) + np.maximum(0, np.log10(rates / 0.1)) ** 2 * 9
    found = RateSearch(rates, losses)
    assert 1e-3 <= found.suggestion <= 4e-3  # the moving mean comes later
    assert found.smoothed[0] == losses[0]
    weights = 0.9 ** np.arange(101)[::-1]
    assert found.smoothed[-1] == pytest.approx((weights * losses).sum() / weights.sum())


def test_a_loss_that_never_falls_suggests_nothing():
    assert RateSearch(np.geomspace(1e-5, 1, 30), np.linspace(1, 2, 30)).suggestion is None


@pytest.mark.prove
def test_the_search_rises_and_ends_where_the_loss_breaks(digits, quick):
    setting = prepared(quick, str(digits))
    found = find_rate(setting, steps=12, low=1e-3, high=1e4)
    assert 3 < len(found.rates) <= 12 and len(found.losses) == len(found.rates)
    np.testing.assert_allclose(found.rates[1:] / found.rates[:-1], 1e7 ** (1 / 11), rtol=1e-6)
    assert found.losses[0] == pytest.approx(np.log(10), abs=0.1)
    assert found.losses.max() > 2 * found.losses[0]
    again = find_rate(setting, steps=12, low=1e-3, high=1e4)
    np.testing.assert_array_equal(again.losses, found.losses)


@pytest.mark.parametrize("values", [{"steps": 3}, {"low": 0}, {"low": 2, "high": 1}])
def test_values_that_make_no_sense(values):
    with pytest.raises(ValueError, match="`steps` must be at least 10, and `low` above 0"):
        find_rate(None, **values)
