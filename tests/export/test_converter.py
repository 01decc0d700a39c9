"""Ranges of tensors by each measure, of a model whose values are known."""

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.export.converter import (
    MEASURES,
    OUTLIERS,
    least_squares,
    min_max,
    percentile,
    reason,
)


@pytest.fixture(scope="module")
def content():
    """Doubles what it gets."""

    class Module(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec((1, 100), name="images")])
        def serve(self, images):
            return {"logits": 2.0 * images}

    module = Module()
    converter = tf.lite.TFLiteConverter.from_concrete_functions(
        [module.serve.get_concrete_function()], module
    )
    return converter.convert()


@pytest.fixture(scope="module")
def images():
    """Normal values, and a single one of 1000."""
    values = np.random.default_rng(0).normal(0, 1, (300, 100)).astype("float32")
    values[7, 3] = 1000
    return values


def output(found):
    """(low, high) of the doubled values: the tensor with the widest range."""
    return max(
        ((float(one["min"].item()), float(one["max"].item())) for one in found.values()),
        key=lambda pair: pair[1],
    )


def test_min_max_takes_all(content, images):
    low, high = output(min_max(content, images))
    assert (low, high) == (2 * images.min(), 2000)


def test_a_percentile_leaves_the_outliers(content, images):
    low, high = output(percentile(content, images))
    # A bin is (2000 + 9) / 2048 wide.
    assert low == pytest.approx(2 * np.quantile(images, OUTLIERS), abs=1.5)
    assert high == pytest.approx(2 * np.quantile(images, 1 - OUTLIERS), abs=1.5)


def test_least_squares_keeps_an_outlier_that_would_cost_more_than_all_else(content, images):
    assert output(least_squares(content, images))[1] > 0.95 * 2000


def test_least_squares_cuts_a_thin_tail_and_rounds_better_for_it(content):
    values = np.random.default_rng(0).standard_t(4, (300, 100)).astype("float32")

    def error(low, high):
        step = (high - low) / 255
        rounded = np.round((np.clip(2 * values, low, high) - low) / step) * step + low
        return ((rounded - 2 * values) ** 2).mean()

    whole, cut = output(min_max(content, values)), output(least_squares(content, values))
    assert cut[1] < whole[1] and error(*cut) < error(*whole)


def test_what_is_written_is_the_same_each_time(content, images):
    for measure in MEASURES.values():
        first, second = measure(content, images[:20]), measure(content, images[:20])
        assert str(first) == str(second)


def test_the_operators_that_lack_are_named():
    log = "Some ops are not supported\nCustom ops: BesselI0e, Erfc\nDetails: long"
    assert reason(ValueError(log)) == "TFLite lacks the operators BesselI0e, Erfc"
    assert reason(ValueError("first\nsecond")) == "first"
