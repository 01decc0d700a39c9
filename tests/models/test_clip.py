import math

import keras
import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.models import CLIP, NAMES, CLIPConfig, ImageTower, TextTower
from keras_vit.objectives import ContrastiveLoss, SigmoidLoss

# Whole, and the image tower; measured in open_clip's class, OpenAI's by its published code, too.
PUBLISHED = {
    "clip_b32": (151_277_313, 87_849_216),
    "clip_b16": (149_620_737, 86_192_640),
    "clip_l14": (427_616_513, 303_966_208),
    "clip_l14_336": (427_944_193, 304_293_888),
    "clip_b32_256": (151_288_833, 87_860_736),
    "clip_b16_plus_240": (208_377_345, 117_213_824),
    "clip_h14": (986_109_441, 632_076_800),
    "clip_h14_378": (986_714_881, 632_682_240),
    "clip_g14": (1_366_678_273, 1_012_645_632),
    "clip_gigantic14": (2_539_567_105, 1_844_907_264),
}
TINY = {
    "image_size": (10, 21),
    "patch_size": (5, 7),
    "width": 14,
    "depth": 1,
    "num_heads": 2,
    "mlp_dim": 11,
    "text_width": 12,
    "text_depth": 1,
    "text_num_heads": 3,
    "text_mlp_dim": 13,
    "embedding_dim": 8,
    "vocabulary_size": 17,
    "context_length": 5,
}


def pairs(count, seed=3):
    generator = np.random.default_rng(seed)
    return {
        "images": generator.normal(size=(count, 10, 21, 3)).astype("float32"),
        "texts": generator.integers(0, 17, (count, 5), "int32"),
    }


def count(config, prefix=""):
    try:
        with keras.StatelessScope(initialize_variables=False):
            weights = CLIP(config).weights
            return sum(math.prod(w.shape) for w in weights if w.path.startswith(prefix))
    finally:
        # Keras would allocate the weights at the end of the next scope.
        keras.utils.clear_session(free_memory=False)


def test_every_name_has_its_count():
    assert {name for name, (kind, _) in NAMES.items() if kind is CLIP} == set(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameter_count(name):
    """All blocks of a tower have one size: two shallow models tell the rest."""
    fields = NAMES[name][1]
    one, two = ({"depth": depth, "text_depth": depth} for depth in (1, 2))
    found = {}
    for tower, depth in (("image/", fields["depth"]), ("text/", fields["text_depth"])):
        first, second = (count(CLIPConfig(**{**fields, **more}), tower) for more in (one, two))
        found[tower] = first + (depth - 1) * (second - first)
    whole, image = PUBLISHED[name]
    assert found["image/"] == image
    assert sum(found.values()) + 1 == whole


def test_by_name():
    model = create_model("clip_b16", **TINY)
    assert type(model) is CLIP
    assert type(model.image_tower) is ImageTower and type(model.text_tower) is TextTower
    assert model.preprocessing.mean == (0.48145466, 0.4578275, 0.40821073)
    assert model.config.end_token == 16


def test_outputs_are_the_towers_at_length_one():
    model, inputs = CLIP(CLIPConfig(**TINY)), pairs(3)
    outputs = model(inputs)
    assert set(outputs) == {"images", "texts", "scale"}
    np.testing.assert_allclose(outputs["scale"], np.full((3, 1), 1 / 0.07), rtol=1e-5)
    for kind, tower in (("images", model.image_tower), ("texts", model.text_tower)):
        vectors = np.asarray(tower(inputs[kind]))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.testing.assert_allclose(outputs[kind], vectors / lengths, atol=1e-6)


def test_what_stands_after_the_end_of_a_text_does_not_matter():
    model = CLIP(CLIPConfig(**TINY))
    texts = np.array([[15, 3, 16, 0, 0], [15, 3, 16, 16, 7]], "int32")
    one, two = np.asarray(model.text_tower(texts))
    np.testing.assert_allclose(one, two, atol=1e-6)


def test_a_tower_is_a_model_of_its_own(tmp_path):
    model, inputs = CLIP(CLIPConfig(**TINY)), pairs(2)
    for kind, tower in (("images", model.image_tower), ("texts", model.text_tower)):
        tower.save(tmp_path / "tower.keras")
        again = keras.saving.load_model(tmp_path / "tower.keras")
        assert [w.path for w in again.weights] == [w.path for w in tower.weights]
        np.testing.assert_array_equal(again(inputs[kind]), tower(inputs[kind]))
    features = model.image_tower.features(inputs["images"])
    assert features["tokens"].shape == (2, 6, 14) and features["pooled"].shape == (2, 14)


def test_an_image_tower_with_classes_is_a_classifier():
    tower = ImageTower(CLIPConfig(**TINY, num_classes=3))
    logits = np.asarray(tower(pairs(2)["images"]))
    kernel = np.asarray(tower.get_layer("head").kernel)
    # Products with vectors of length one.
    assert logits.shape == (2, 3)
    assert (np.abs(logits) <= np.linalg.norm(kernel, axis=0) + 1e-6).all()


def test_training_moves_every_weight(tmp_path):
    """Under remat, saved with the optimizer and gone on with as if it had not been."""
    keras.utils.set_random_seed(3)
    model, data = CLIP(CLIPConfig(**TINY, logit_bias=-1.0, remat=True)), pairs(8)
    model.compile(keras.optimizers.Adam(0.01), SigmoidLoss())
    before = model.get_weights()
    options = {"batch_size": 4, "shuffle": False, "verbose": 0}
    first = model.fit(data, **options).history["loss"][0]
    for weight, old in zip(model.weights, before, strict=True):
        assert not np.array_equal(np.asarray(weight), old), weight.path
    model.save(tmp_path / "clip.keras")
    again = keras.saving.load_model(tmp_path / "clip.keras")
    ends = [one.fit(data, epochs=3, **options).history["loss"] for one in (model, again)]
    np.testing.assert_allclose(*ends, rtol=1e-5)
    assert ends[0][-1] < first


def test_the_temperature_stays_at_its_bound():
    model, data = CLIP(CLIPConfig(**TINY, logit_scale=math.log(99.9))), pairs(1)
    scale = model.get_layer("scale")
    # Of a batch of one the softmax loss has no gradient: the weight is pushed by hand.
    model.compile(keras.optimizers.SGD(1.0), ContrastiveLoss())
    model.fit(data, verbose=0)
    assert float(scale.number) == pytest.approx(math.log(99.9), abs=1e-6)
    model.optimizer.apply(
        [keras.ops.full_like(w, -1.0) for w in model.trainable_variables], model.trainable_variables
    )
    assert float(scale.number) == pytest.approx(math.log(100), abs=1e-6)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"context_length": 1}, "`context_length` must be an integer of at least 2"),
        ({"text_width": 10}, "`num_heads` must divide `width`"),
        ({"end_token": 17}, "`end_token` must be in"),
        ({"vocabulary_size": 0}, "`vocabulary_size` must be an integer"),
        ({"activation": "swish"}, "`activation` must be one of"),
        ({"image_size": (10, 20)}, "`patch_size` must divide `image_size`"),
        ({"num_classes": 2}, "A CLIP has no classes"),
    ],
)
def test_what_cannot_be(wrong, message):
    with pytest.raises(ValueError, match=message):
        CLIP(CLIPConfig(**{**TINY, **wrong}))
