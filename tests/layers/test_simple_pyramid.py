import keras
import pytest

from keras_vit.layers.simple_pyramid import simple_pyramid


@pytest.mark.parametrize(("level", "levels"), [(4, (3, 7)), (3, (3, 5)), (5, (3, 6))])
def test_each_level_has_its_cells(level, levels):
    size = (64, 128)
    x = keras.Input((*(side // 2**level for side in size), 12))
    pyramid = simple_pyramid(x, levels, level, 5, keras.DTypePolicy("float32"))
    assert {name: tuple(y.shape) for name, y in pyramid.items()} == {
        f"P{n}": (None, *(-(-side // 2**n) for side in size), 5)
        for n in range(levels[0], levels[1] + 1)
    }


def test_every_map_is_normed():
    x = keras.Input((4, 4, 6))
    pyramid = simple_pyramid(x, (3, 3), 4, 7, keras.DTypePolicy("float32"))
    y = keras.Model(x, pyramid)(keras.random.normal((2, 4, 4, 6), seed=1))["P3"]
    mean, variance = keras.ops.moments(y, axes=-1)
    assert abs(float(keras.ops.max(mean))) < 1e-4
    assert float(keras.ops.mean(variance)) == pytest.approx(1.0, abs=1e-2)
