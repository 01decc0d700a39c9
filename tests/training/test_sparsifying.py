import dataclasses

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_vit.models import DynamicViTTrainer, ViT, ViTConfig
from keras_vit.training.sparsifying import SMALL, LateAdamW, Sparsifying, compiled, sparsified
from tests.contract.cases import SMALL as SIZES
from tests.contract.test_contract import randomised

SIZES = {**SIZES, "width": 12, "depth": 2}
RECIPE = dataclasses.replace(
    SMALL, stage_blocks=(0, 1), keep_ratios=(0.6, 0.3), epochs=3, warmup_epochs=0, batch_size=4
)
RANDOM = np.random.default_rng(3)
IMAGES = RANDOM.normal(size=(4, 6, 15, 5)).astype("float32")
LABELS = np.eye(7, dtype="float32")[RANDOM.integers(0, 7, 4)]
DATA = tf.data.Dataset.from_tensors((IMAGES, LABELS)).repeat()


def vit():
    return randomised(ViT(ViTConfig(**SIZES)))


def test_the_values_of_the_paper():
    published = Sparsifying()
    assert (published.epochs, published.learning_rate, published.backbone_factor) == (
        30,
        1e-3,
        0.01,
    )
    assert (published.frozen_epochs, published.ratio_weight) == (5, 2.0)


def test_only_the_scores_learn_at_first_and_some_tables_never():
    trainer = DynamicViTTrainer.from_image_model(vit(), stage_blocks=(0, 1), keep_ratios=(0.6, 0.3))
    compiled(trainer, RECIPE, steps_per_epoch=1)
    moved = []
    for _ in range(2):
        before = [np.array(weight) for weight in trainer.weights]
        trainer.train_on_batch(IMAGES, LABELS)
        moved.append(
            {
                weight.path
                for weight, old in zip(trainer.weights, before, strict=True)
                if not np.array_equal(weight, old)
            }
        )
    assert all(path.startswith("score_") for path in moved[0]) and len(moved[0]) == 20
    still = {"patch_encoder/class_token", "patch_encoder/position"}
    assert moved[1] == {weight.path for weight in trainer.trainable_weights} - still


def test_the_rate_of_the_backbone_is_a_share():
    weights = {name: keras.Variable(np.ones(3, "float32"), name=name) for name in ("own", "slow")}
    factors = {weights["slow"].path: 0.1}
    optimizer = LateAdamW(0.5, weight_decay=0.0, factors=factors, frozen_steps=1)
    optimizer.build(list(weights.values()))
    for expected in ([0.5, 1.0], [0.0, 0.95]):
        optimizer.apply([tf.ones(3)] * 2)
        found = [float(weight.numpy()[0]) for weight in weights.values()]
        np.testing.assert_allclose(found, expected, atol=1e-5)
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert type(again) is LateAdamW and (again.factors, again.frozen_steps) == (factors, 1)


def test_the_model_that_comes_out_is_the_one_validated(tmp_path):
    keras.utils.set_random_seed(1)
    history = keras.callbacks.History()
    given = {"validation_data": DATA, "validation_steps": 1, "callbacks": [history], "verbose": 0}
    model = sparsified(vit(), DATA, 2, RECIPE, backup=tmp_path, **given)
    logits = np.asarray(model(IMAGES))
    accuracy = (logits.argmax(-1) == LABELS.argmax(-1)).mean()
    assert history.history["val_accuracy"][-1] == pytest.approx(accuracy)
    # The run is done: taken up again, it gives the same at once.
    again = sparsified(vit(), DATA, 2, RECIPE, backup=tmp_path, **{**given, "callbacks": []})
    np.testing.assert_array_equal(again(IMAGES), logits)
