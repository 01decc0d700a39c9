import keras
import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.models import CLIP, CLIPConfig, Swin, SwinConfig
from keras_vit.training import carry_optimizer, freeze, layer_decay_factors
from keras_vit.training.fine_tuning import layer_depths
from keras_vit.training.optimizers import adamw
from keras_vit.weights import adapted

TINY = {
    "image_size": 8,
    "patch_size": 2,
    "channels": 1,
    "width": 12,
    "depth": 3,
    "num_heads": 2,
    "mlp_dim": 13,
    "num_classes": 5,
}


def test_a_clip_is_frozen_by_its_towers():
    towers = {f"text_{name}": TINY[name] for name in ("width", "depth", "num_heads", "mlp_dim")}
    sizes = {name: value for name, value in TINY.items() if name != "num_classes"}
    model = CLIP(CLIPConfig(**sizes, **towers, vocabulary_size=5, context_length=3))
    with pytest.raises(ValueError, match="the blocks of two towers"):
        freeze(model, 1)
    freeze(model.image_tower, 1)
    trained = {weight.path.rsplit("/", 1)[0] for weight in model.trainable_weights}
    assert "image/block_1/norm1" in trained and "image/block_0/norm1" not in trained
    assert "text/block_0/norm1" in trained


def tiny(**fields):
    keras.utils.set_random_seed(3)
    return create_model("vit_ti16", **{**TINY, **fields})


def trained(model, steps=3):
    model.compile(adamw(model, 1e-2), keras.losses.CategoricalCrossentropy(from_logits=True))
    generator = np.random.default_rng(7)
    images = generator.normal(size=(11, *model.input_shape[1:])).astype("float32")
    labels = np.eye(model.config.num_classes)[np.arange(11) % model.config.num_classes]
    for _ in range(steps):
        model.train_on_batch(images, labels)
    return model


def test_layers_of_a_vit_lie_as_deep_as_their_block():
    depths = layer_depths(tiny(pooling="map"))
    assert {depths[name] for name in ("patches", "patch_encoder")} == {0}
    assert [depths[f"block_{i}"] for i in range(3)] == [1, 2, 3]
    assert {depths[name] for name in ("norm", "pool", "head")} == {4}


def test_what_stands_between_blocks_goes_with_the_second():
    config = SwinConfig(image_size=(9, 17), width=6, depths=(2, 1), num_heads=(1, 2), num_classes=5)
    model = Swin(config)
    depths = layer_depths(model)
    assert {depths[name] for name in ("pad", "patches", "patch_encoder", "patch_norm")} == {0}
    assert [depths[name] for name in ("block_1", "merge_1", "block_2", "norm")] == [2, 3, 3, 4]
    freeze(model, 2)
    moved = {variable.path.split("/")[0] for variable in model.trainable_variables}
    assert moved == {"merge_1", "block_2", "norm", "head"}


def test_frozen_blocks_do_not_move():
    model = tiny()
    freeze(model, 2)
    before = {v.path: np.array(v) for v in model.weights}
    trained(model)
    moved = {v.path for v in model.weights if not np.array_equal(v, before[v.path])}
    assert {path.split("/")[0] for path in moved} == {"block_2", "norm", "head"}
    freeze(model, 99)
    assert {v.path.split("/")[0] for v in model.trainable_variables} == {"norm", "head"}
    freeze(model, 0)
    assert len(model.trainable_variables) == len(before)


def test_negative_blocks():
    with pytest.raises(ValueError, match="`blocks` must be at least 0"):
        freeze(tiny(), -1)


def test_factors_fall_towards_the_input():
    factors = layer_decay_factors(tiny(), 0.5)
    assert factors["head/kernel"] == factors["norm/gamma"] == 1
    assert factors["block_2/mlp/fc1/bias"] == 0.5
    assert factors["block_0/attention/qkv/kernel"] == 0.125
    assert factors["patch_encoder/position"] == 0.0625
    with pytest.raises(ValueError, match=r"`decay` must be in \(0, 1\]"):
        layer_decay_factors(tiny(), 0.0)


def test_step_and_decay_of_a_weight_are_scaled_by_its_factor():
    """One step of each optimizer by hand: what a factor of f does is f times the move."""
    model = tiny()
    start = {v.path: np.array(v) for v in model.trainable_variables}
    gradients = [np.random.default_rng(5).normal(size=v.shape) for v in model.trainable_variables]

    def moves(layer_decay):
        for variable in model.trainable_variables:
            variable.assign(start[variable.path])
        optimizer = adamw(model, 0.1, weight_decay=0.3, layer_decay=layer_decay)
        optimizer.apply([keras.ops.cast(g, "float32") for g in gradients])
        return {v.path: np.array(v) - start[v.path] for v in model.trainable_variables}

    plain, scaled, factors = moves(None), moves(0.5), layer_decay_factors(model, 0.5)
    for path, move in plain.items():
        if path.endswith("kernel"):  # decayed first, and the step taken from there
            np.testing.assert_allclose(scaled[path], factors[path] * move, atol=2e-6)
        else:
            np.testing.assert_allclose(scaled[path], factors[path] * move, atol=1e-6)


def test_the_optimizer_survives_a_saved_model(tmp_path):
    model = tiny()
    model.compile(adamw(model, 0.1, layer_decay=0.5), "mse")
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert again.optimizer.factors == layer_decay_factors(model, 0.5)


def test_the_optimizer_goes_on_at_another_resolution():
    small = trained(tiny())
    large = adapted(small, image_size=12)
    large.compile(adamw(large, 1e-2), keras.losses.CategoricalCrossentropy(from_logits=True))
    left = carry_optimizer(small, large)
    assert {path.split("/")[-1] for path in left} == {
        "patch_encoder_position_momentum",
        "patch_encoder_position_velocity",
    }
    assert int(small.optimizer.iterations) == 3 and int(large.optimizer.iterations) == 0
    kept = {v.path: np.array(v) for v in small.optimizer.variables}
    for variable in large.optimizer.variables:
        own = variable.path.split("/")[-1] in ("iteration", "learning_rate")
        if variable.path not in left and not own:
            np.testing.assert_array_equal(variable, kept[variable.path], variable.path)
    assert any(value.any() for path, value in kept.items() if path.endswith("velocity"))


def test_a_model_that_is_not_compiled():
    with pytest.raises(ValueError, match="Both models must be compiled"):
        carry_optimizer(tiny(), tiny())


def test_optimizers_of_two_kinds():
    small = trained(tiny())
    large = adapted(small, image_size=12)
    large.compile("sgd", "mse")
    with pytest.raises(ValueError, match="of the same class. Received: AdamW and SGD"):
        carry_optimizer(small, large)
