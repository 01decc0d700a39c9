from keras_vit.data.augment import Flip
from tests.data.augment.scene import IMAGES, KEYS


def test_it_mirrors_about_half():
    out = Flip()(IMAGES, KEYS).numpy()
    mirrored = (out == IMAGES.numpy()[:, :, ::-1]).all(axis=(1, 2, 3))
    same = (out == IMAGES.numpy()).all(axis=(1, 2, 3))
    assert (mirrored ^ same).all()
    assert 16 <= mirrored.sum() <= 48  # four standard deviations of 64 coins
