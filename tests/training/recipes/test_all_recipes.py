"""Every recipe: that it can be run, and that its figures are those of its paper."""

import dataclasses

import pytest

from keras_vit.factory import MODELS
from keras_vit.layers import Preprocessing
from keras_vit.models import Detector
from keras_vit.training import RECIPES, recipe
from keras_vit.training.losses import loss_of, smoothing_in_data
from keras_vit.weights import list_weights

NAMES = pytest.mark.parametrize("name", RECIPES)


@NAMES
def test_it_names_a_model_that_can_be_built(name):
    chosen = RECIPES[name]
    model_class, variant = MODELS[chosen.model]
    if chosen.loss == "detection":  # the model is a backbone
        model_class, variant = Detector, {"backbone": chosen.model}
    channels = chosen.config.get("channels", 3)
    half = {"mean": (0.5,) * channels, "std": (0.5,) * channels}
    preprocessing = Preprocessing(**{**half, **chosen.preprocessing})
    fields = {**variant, **chosen.config, "preprocessing": preprocessing}
    config = model_class.config_class(**fields)
    assert chosen.frozen_blocks <= config.depth
    assert loss_of(chosen).__class__.__name__ and 0 <= smoothing_in_data(chosen) < 1


@NAMES
def test_it_starts_from_published_weights_of_its_model(name):
    chosen = RECIPES[name]
    if chosen.weights is not None:
        assert chosen.weights in list_weights(chosen.weights_model or chosen.model)


@NAMES
def test_what_is_from_a_paper_says_so(name):
    made_here = {"digits", "vit_fashion_mnist", "fine_tune", "from_scratch", "small_data"}
    made_here |= {"last_blocks", "performer_small_patches", "clip_pairs", "detection"}
    assert bool(RECIPES[name].source) != (name in made_here)


@NAMES
def test_it_stays_itself_without_changes(name):
    assert recipe(name) == RECIPES[name] == dataclasses.replace(RECIPES[name])


def test_an_unknown_recipe_lists_the_known_ones():
    with pytest.raises(ValueError, match="no recipe 'digit'. Did you mean 'digits'.*from_scratch"):
        recipe("digit")
