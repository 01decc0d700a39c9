import math

import pytest

from keras_vit.training.schedules import warmup_cosine


def test_every_corner_of_the_schedule():
    rate = warmup_cosine(0.4, steps=110, warmup_steps=10, minimum=0.1)
    expected = {0: 0.0, 1: 0.04, 9: 0.36, 10: 0.4, 60: 0.25, 110: 0.1, 500: 0.1}
    expected[35] = 0.1 + 0.3 * 0.5 * (1 + math.cos(math.pi * 25 / 100))
    for step, value in expected.items():
        assert float(rate(step)) == pytest.approx(value, abs=1e-6), step


def test_without_warmup_it_starts_at_the_peak():
    rate = warmup_cosine(0.4, steps=100)
    assert [float(rate(step)) for step in (0, 50, 100)] == pytest.approx([0.4, 0.2, 0.0], abs=1e-6)


def test_rates_and_steps_that_make_no_sense():
    with pytest.raises(ValueError, match="`warmup_steps` .* below `steps`.*steps=10"):
        warmup_cosine(1.0, steps=10, warmup_steps=10)
    with pytest.raises(ValueError, match="`minimum` between 0 and it"):
        warmup_cosine(1.0, steps=10, minimum=2.0)
