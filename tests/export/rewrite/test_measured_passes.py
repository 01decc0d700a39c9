"""The passes that look at images, whatever the family; one by one in files of their own."""

import numpy as np
import pytest

from keras_vit.export.rewrite import MEASURED, PASSES, rewrite
from tests.export.rewrite.families import family


@pytest.mark.parametrize("name", ["dinov2", "swin"])
def test_outputs_stay_whatever_the_images_are(name):
    model = family(name)
    shape = (3, *model.input_shape[1:])
    _, steps = rewrite(model, PASSES, np.random.default_rng(2).uniform(0, 99, shape))
    exact = {step.name: step.difference for step in steps if step.name != "gelus_of_products"}
    assert set(MEASURED) < set(exact)
    assert max(exact.values()) <= 2e-5, exact


def test_images_are_asked_for():
    with pytest.raises(ValueError, match="`images` must be given for centre_heads"):
        rewrite(family("vit"), ["centre_heads"])
