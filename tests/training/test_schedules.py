import math

import keras
import pytest

from keras_vit.training.schedules import SCHEDULES, warmup_cosine, warmup_linear

WARMED = {name: SCHEDULES[name] for name in ("cosine", "linear")}
KINDS = pytest.mark.parametrize("kind", WARMED.values(), ids=WARMED)


def test_every_corner_of_the_cosine():
    rate = warmup_cosine(0.4, steps=110, warmup_steps=10, minimum=0.1)
    expected = {0: 0.0, 1: 0.04, 9: 0.36, 10: 0.4, 60: 0.25, 110: 0.1, 500: 0.1}
    expected[35] = 0.1 + 0.3 * 0.5 * (1 + math.cos(math.pi * 25 / 100))
    for step, value in expected.items():
        assert float(rate(step)) == pytest.approx(value, abs=1e-6), step


def test_every_corner_of_the_line():
    rate = warmup_linear(0.4, steps=110, warmup_steps=10, minimum=0.1)
    expected = {0: 0.0, 1: 0.04, 9: 0.36, 10: 0.4, 11: 0.397, 60: 0.25, 110: 0.1, 500: 0.1}
    for step, value in expected.items():
        assert float(rate(step)) == pytest.approx(value, abs=1e-6), step


def test_big_visions_cosine():
    """A rise up to the peak, times a cosine that starts where the rise ends."""
    rate = warmup_cosine(1e-3, steps=1000, warmup_steps=100)
    for step in range(0, 1001, 37):
        progress = min(max((step - 100) / 900, 0), 1)
        theirs = 1e-3 * 0.5 * (1 + math.cos(math.pi * progress)) * min(1, step / 100)
        assert float(rate(step)) == pytest.approx(theirs, abs=1e-9)


@KINDS
def test_without_warmup_it_starts_at_the_peak(kind):
    rate = kind(0.4, steps=100)
    assert [float(rate(step)) for step in (0, 50, 100)] == pytest.approx([0.4, 0.2, 0.0], abs=1e-6)


@KINDS
def test_a_minimum_of_the_peak_is_a_constant(kind):
    rate = kind(0.4, steps=100, warmup_steps=10, minimum=0.4)
    assert [float(rate(step)) for step in (10, 50, 100)] == pytest.approx([0.4] * 3)


@KINDS
def test_rates_and_steps_that_make_no_sense(kind):
    with pytest.raises(ValueError, match="`warmup_steps` .* below `steps`.*steps=10"):
        kind(1.0, steps=10, warmup_steps=10)
    with pytest.raises(ValueError, match="`minimum` between 0 and it"):
        kind(1.0, steps=10, minimum=2.0)


@KINDS
def test_it_survives_its_config(kind):
    rate = kind(0.4, steps=110, warmup_steps=10, minimum=0.1)
    schedules = keras.optimizers.schedules
    again = schedules.deserialize(schedules.serialize(rate))
    assert [float(again(step)) for step in (3, 60)] == [float(rate(step)) for step in (3, 60)]


def test_tenths_knows_neither_warm_up_nor_minimum():
    for wrong in ({"warmup_steps": 3}, {"minimum": 0.1}):
        with pytest.raises(ValueError, match="`tenths` has no warm-up and no minimum"):
            SCHEDULES["tenths"](1.0, steps=15, **wrong)
