import dataclasses

import pytest
from PIL import Image

from keras_vit.training.plan import draw_plan, plan
from keras_vit.training.prepared import prepared


@pytest.fixture(scope="module")
def found(digits, quick):
    return plan(prepared(dataclasses.replace(quick, frozen_blocks=1), str(digits)))


def test_the_numbers_are_those_of_the_run(found):
    assert found.steps == 2 * 4  # epochs, and steps for 100 images of 32
    count, trained = found.parameters
    assert count == found.model.count_params()
    assert trained == sum(w.size for w in map(lambda v: v.numpy(), found.model.trainable_variables))
    assert 0 < trained < count
    assert found.memory.weights == 4 * count
    assert found.training_flops == pytest.approx(3 * found.forward_flops, rel=0.05)


def test_the_pictures(found, tmp_path):
    for path in draw_plan(found, tmp_path):
        with Image.open(path) as picture:
            assert picture.format == "PNG" and min(picture.size) > 100
