import keras
import numpy as np

from keras_vit.models import ViT, ViTConfig
from keras_vit.step import StepSettings, exact
from keras_vit.step.average import averages
from tests.contract.cases import SMALL

IMAGES = np.random.default_rng(1).normal(size=(5, 6, 15, 5)).astype("float32")
LABELS = np.eye(7, dtype="float32")[[0, 3, 5, 6, 1]]


def trained(model, **fit):
    keras.utils.set_random_seed(3)
    model.fit(IMAGES, LABELS, batch_size=2, shuffle=False, verbose=0, **fit)
    return model


def compiled(**settings):
    keras.utils.set_random_seed(2)
    model = exact(ViT(ViTConfig(**SMALL)), **settings)
    model.compile(keras.optimizers.SGD(0.1), keras.losses.CategoricalCrossentropy(from_logits=True))
    return model


def test_settings_and_averages_travel_in_the_file(tmp_path):
    model = trained(compiled(clip_norm=0.5, ema=0.9, accumulate=2))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.step_settings == StepSettings(clip_norm=0.5, ema=0.9, accumulate=2)
    held, again = averages(model.optimizer), averages(loaded.optimizer)
    assert len(again) == len(model.weights)
    for one, other in zip(held, again, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    # What was loaded goes on as what was saved.
    one, other = trained(model), trained(loaded)
    for weight, same in zip(one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, same)


def test_averages_are_no_weights_of_the_model(tmp_path):
    model = trained(compiled(ema=0.9))
    assert len(model.weights) == len(ViT(ViTConfig(**SMALL)).weights)
    model.save_weights(tmp_path / "model.weights.h5")
    new = ViT(ViTConfig(**SMALL))
    new.load_weights(tmp_path / "model.weights.h5")
    for weight, same in zip(model.get_weights(), new.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, same)


def test_a_file_without_settings_has_none(tmp_path):
    model = compiled()
    assert "step" not in model.get_compile_config()
    model.save(tmp_path / "model.keras")
    assert keras.saving.load_model(tmp_path / "model.keras").step_settings == StepSettings()


def test_the_next_fit_goes_by_new_settings():
    model = trained(compiled(clip_norm=1e-9))
    before = model.get_weights()
    trained(exact(model))
    moved = [np.abs(a - b).max() for a, b in zip(before, model.get_weights(), strict=True)]
    assert max(moved) > 1e-3


def test_two_fits_with_averages_are_one():
    one, two = trained(compiled(ema=0.9), epochs=2), trained(trained(compiled(ema=0.9)))
    for weight, same in zip(one.get_weights(), two.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, same)
