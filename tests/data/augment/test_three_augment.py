import numpy as np

from keras_vit.data.augment import ThreeAugment, ops
from tests.data.augment.scene import IMAGES, keys


def test_a_third_each():
    image = IMAGES[0]
    grey = np.repeat(ops.grey(image), 3, axis=-1)
    solar = ops.solarize(image, 128).numpy()
    counts = {"grey": 0, "solar": 0, "blurred": 0}
    softness = []
    for key in keys(90):
        out = ThreeAugment()(image, key).numpy()
        assert out.dtype == np.uint8 and out.shape == image.shape
        kind = "grey" if (out == grey).all() else "solar" if (out == solar).all() else "blurred"
        counts[kind] += 1
        if kind == "blurred":
            softness.append(out.std())
    assert all(16 <= count <= 44 for count in counts.values()), counts
    # From nothing (a radius of 0.1) to much.
    assert max(softness) > 0.95 * image.numpy().std() and min(softness) < 20
