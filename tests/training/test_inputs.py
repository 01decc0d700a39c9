import dataclasses
from pathlib import Path

import numpy as np
import pytest
from keras import ops

from keras_vit import create_model
from keras_vit.data import Captions, find_videos, from_arrays
from keras_vit.training import recipe
from keras_vit.training.inputs import CLIPS, IMAGES, PAIRS, inputs_of
from keras_vit.training.prepared import prepared
from tests.data.pictures import noise
from tests.data.test_video import level, write_frames
from tests.data.tokens import MERGES

WEIGHTS = Path(__file__).parents[1] / "fixtures" / "weights"
SMALL = {"image_size": 8, "patch_size": 4, "width": 12, "depth": 1, "num_heads": 2, "mlp_dim": 13}
TEXTS = ["one", "two", "three", "four", "five", "six"]


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    for name in ("run", "walk"):
        for number in range(4):
            write_frames(folder / name / f"{number}", 5)
    return folder


@pytest.fixture(scope="module")
def pairs():
    return dataclasses.replace(from_arrays(noise(6, 8, 8, 3)), targets=Captions(TEXTS))


def of_clips(**changes):
    start = {"weights": None, "weights_model": None, "batch_size": 4, "held_out": 0.25}
    start |= {"config": {**SMALL, "frames": 3}, "preprocessing": {"stride": 2}}
    return recipe("timesformer_clips", {**start, "augment": (), **changes})


def of_pairs(**changes):
    config = {**recipe("clip_pairs").config, **SMALL, "text_depth": 1, "context_length": 6}
    config |= {"vocabulary_size": 2514} | changes.pop("config", {})
    words = {"vocabulary": str(MERGES), "clean": "transformers", "batch_size": 3}
    return recipe("clip_pairs", {"config": config, **words, "augment": (), **changes})


def test_models_say_what_they_take():
    for name, kind in (("vit_b16", IMAGES), ("timesformer_b16", CLIPS), ("clip_b32", PAIRS)):
        assert inputs_of(name) is kind
    model = create_model("timesformer_b16", **SMALL, frames=2)
    assert inputs_of(model) is CLIPS and inputs_of(object()) is IMAGES


def test_clips_reach_the_model(videos):
    setting = prepared(of_clips(), str(videos))
    assert (len(setting.train), len(setting.held_out), setting.monitor) == (6, 2, "val_accuracy")
    model = setting.model()
    assert model.preprocessing.class_names == ("run", "walk")
    assert (model.preprocessing.frames, model.preprocessing.stride) == (3, 2)
    clips, labels = next(iter(setting.batches(model.preprocessing)(0)))
    assert clips.shape == (4, 3, 8, 8, 3) and labels.shape == (4, 2)
    ((clips, labels),) = setting.validation(model.preprocessing)
    assert clips.shape == (2, 3, 8, 8, 3) and labels.numpy().tolist() == [[1, 0], [0, 1]]
    pixels = model.preprocessing.normalize(np.full((1, 8, 8, 3), level(4)))
    np.testing.assert_allclose(clips[0, -1], ops.convert_to_numpy(pixels)[0], atol=1e-5)


def test_pairs_reach_the_model(pairs):
    setting = prepared(of_pairs(), pairs)
    assert setting.monitor == "val_recall" and setting.recipe.loss == "contrastive"
    preprocessing = setting.model().preprocessing
    tokens = PAIRS.tokenizer(setting.recipe)
    (inputs,) = next(iter(setting.batches(preprocessing)(0)))
    rows = tokens(list(setting.train.targets.texts)).tolist()
    assert all(row in rows for row in inputs["texts"].numpy().tolist())
    ((inputs,),) = setting.validation(preprocessing)
    expected = tokens(list(setting.held_out.targets.texts))
    np.testing.assert_array_equal(inputs["texts"], expected)
    _, texts = next(iter(setting.shown(preprocessing)))
    assert {text.decode() for text in texts.numpy()} <= set(TEXTS)


def test_what_does_not_fit_is_told_with_a_remedy(videos, pairs, quick):
    images = from_arrays(noise(6, 8, 8, 1), [0, 1] * 3)
    clips = find_videos(videos).open()
    cases = [
        (of_clips(), images, "takes clips, and DATA holds images: give a folder of videos"),
        (of_clips(), pairs, "takes clips, and DATA holds images"),
        (quick, clips, "takes images, and DATA holds videos: .* such as timesformer_clips"),
        (quick, pairs, "takes images with classes, and DATA holds images with texts: .*clip_pairs"),
        (of_pairs(), images, "images with Classes: give a manifest with the columns path and text"),
    ]
    for chosen, data, message in cases:
        with pytest.raises(ValueError, match=message):
            prepared(chosen, data)
    with pytest.raises(
        ValueError, match="2514 pieces, .* for 99: --set config.vocabulary_size=2514"
    ):
        PAIRS.tokenizer(of_pairs(config={"vocabulary_size": 99}))
    with pytest.raises(ValueError, match="`repeats` of clips must be 1. Received: 2"):
        prepared(of_clips(repeats=2), clips).batches(None)(0)


def test_clips_start_from_an_image_model(videos):
    """A clip of one picture's copies gives what the image model gives for the picture."""
    sizes = {"width": 24, "depth": 2, "num_heads": 3, "mlp_dim": 48, "patch_size": 4}
    sizes["image_size"] = 20
    start = {"weights": str(WEIGHTS / "timm_token"), "weights_format": "timm"}
    fields = {**start, "weights_model": "vit_b16", "config": {**sizes, "frames": 3}}
    model = prepared(of_clips(**fields), str(videos)).model()
    assert model.config.num_classes == 2 and model.preprocessing.stride == 2
    assert model.preprocessing.mean == (0.45,) * 3
    image_model = create_model("vit_b16", **start, **sizes, num_classes=0)
    pictures = np.random.default_rng(3).normal(size=(2, 20, 20, 3)).astype("float32")
    found = model.features(np.repeat(pictures[:, None], 3, axis=1))["pooled"]
    expected = image_model.features(pictures)["pooled"]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    with pytest.raises(ValueError, match="`weights_model` is for models of clips"):
        images = from_arrays(noise(4, 8, 8, 3), [0, 1] * 2)
        prepared(of_clips(**fields, model="vit_b16"), images).model()
    with pytest.raises(ValueError, match="`weights_model` needs `weights`"):
        of_clips(weights_model="vit_b16")
