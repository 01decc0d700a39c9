import keras
import numpy as np
import pytest
from keras import ops

from keras_vit.models import DynamicViTTrainer, ViT, ViTConfig
from keras_vit.objectives import DynamicViTLoss
from keras_vit.step import exact
from keras_vit.training.state import TrainState
from tests.contract.cases import SMALL
from tests.contract.test_contract import randomised
from tests.layers.arrays import arrays, close

SIZES = {**SMALL, "width": 12, "depth": 2}
STAGES = {"stage_blocks": (0, 1), "keep_ratios": (0.6, 0.3)}
(IMAGES,) = arrays((4, 6, 15, 5))
LABELS = np.array([1, 0, 6, 3])


def trainer(dtype="float32", **fields):
    vit = randomised(ViT(ViTConfig(**{**SIZES, **fields}), dtype=dtype))
    model = DynamicViTTrainer.from_image_model(vit, **STAGES)
    generator = np.random.default_rng(9)
    for weight in model.weights:  # they start near zero, and all would be kept alike
        if weight.path.startswith("score") and weight.name == "kernel":
            weight.assign(generator.normal(size=weight.shape))
    return vit, model


def compiled(model, **options):
    loss = DynamicViTLoss(model.config.keep_ratios)
    model.compile(keras.optimizers.SGD(0.01, name="sgd"), loss, metrics=["accuracy"], **options)
    return model


def arrays_of(outputs):
    return {name: ops.convert_to_numpy(output) for name, output in outputs.items()}


@pytest.mark.parametrize("pooling", ["token", "gap", "token_and_mean"])
def test_by_rank_it_computes_what_the_pruned_model_computes(pooling):
    _, model = trainer(pooling=pooling, registers=1)
    for weight in model.weights:
        # Where a dropped token has by far the largest score, the formula's epsilon is felt.
        if weight.path.endswith("qkv/kernel"):
            weight.assign(0.3 * weight)
    outputs = arrays_of(model(IMAGES))
    pruned = model.pruned()
    assert close(pruned(IMAGES), outputs["logits"])
    np.testing.assert_allclose(outputs["kept"], [[9 / 15, 4 / 15]] * 4, rtol=1e-6)
    assert outputs["distance_counts"].tolist() == [4 * 12] * 4


def test_the_teacher_is_the_vit_and_stays_it():
    vit, model = trainer()
    outputs = arrays_of(model(IMAGES, training=True))
    assert close(outputs["teacher_logits"], ops.convert_to_numpy(vit(IMAGES)))
    compiled(model).fit(IMAGES, LABELS, batch_size=4, epochs=2, verbose=0)
    again = arrays_of(model(IMAGES))["teacher_logits"]
    assert close(again, ops.convert_to_numpy(vit(IMAGES)))
    again = DynamicViTTrainer.from_config(model.get_config())
    assert [w.path for w in again.trainable_weights] == [w.path for w in model.trainable_weights]
    assert not any(weight.path.startswith("teacher") for weight in again.trainable_weights)


def test_kept_shares_and_distances_are_those_of_the_decisions():
    _, model = trainer()
    decisions = [model.get_layer(f"decide_{stage}").output for stage in range(2)]
    whole = keras.Model(model.input, {**model.output, "first": decisions[0], "last": decisions[1]})
    outputs = arrays_of(whole(IMAGES, training=True))
    kept = outputs["last"][..., 0]
    assert (kept <= outputs["first"][..., 0]).all()
    np.testing.assert_allclose(outputs["kept"][:, 1], kept.mean(axis=1), rtol=1e-6)
    np.testing.assert_allclose(outputs["distance_counts"], 12 * kept.sum(axis=1), rtol=1e-6)
    assert 0 < outputs["kept"].mean() < 1


# Compiling takes some seconds: once with the loss scaling is enough.
@pytest.mark.parametrize(
    ("policy", "jit_compile"),
    [
        ("float32", False),
        pytest.param("mixed_bfloat16", True, marks=pytest.mark.prove),
        pytest.param("mixed_float16", True, marks=pytest.mark.prove),
    ],
)
def test_a_step_of_fit_moves_every_weight_but_the_teachers(policy, jit_compile):
    _, model = trainer(policy, remat=True)
    exact(model, clip_norm=1.0)
    before = model.get_weights()
    compiled(model, jit_compile=jit_compile)
    history = model.fit(IMAGES, LABELS, batch_size=4, epochs=1, verbose=0).history
    assert np.isfinite(history["loss"][0]) and history["accuracy"][0] * 4 % 1 == 0
    for weight, old in zip(model.weights, before, strict=True):
        new = ops.convert_to_numpy(weight)
        moved = not np.array_equal(new, old)
        assert np.isfinite(new).all() and moved != weight.path.startswith("teacher"), weight.path


@pytest.mark.prove
def test_a_resumed_training_goes_on_as_if_it_had_not_stopped(tmp_path):
    def fitted(model, epochs):
        model.fit(IMAGES, LABELS, batch_size=2, epochs=epochs, shuffle=False, verbose=0)
        return model

    def new():
        keras.utils.set_random_seed(3)
        return compiled(trainer(drop_path=0.2)[1])

    straight = fitted(new(), 2)
    TrainState(fitted(new(), 1)).save(tmp_path / "state")
    resumed = new()
    resumed.optimizer.build(resumed.trainable_variables)
    TrainState(resumed).restore(tmp_path / "state")
    fitted(resumed, 1)
    for one, other in zip(straight.weights, resumed.weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_model_without_classes():
    vit = ViT(ViTConfig(**{**SIZES, "num_classes": 0}))
    with pytest.raises(ValueError, match="it needs classes"):
        DynamicViTTrainer.from_image_model(vit, **STAGES)
