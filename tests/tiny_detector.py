"""The detector that the tests of its files and commands use."""

import keras

from keras_vit.factory import create_detector

FIELDS = {
    "image_size": 32,
    "levels": (3, 4),
    "filters": 8,
    "head_depth": 0,
    "scales": 1,
    "aspects": (1.0,),
    "backbone_fields": {"width": 8, "depths": (1, 1, 1), "num_heads": (1, 1, 1)},
}


def tiny_detector(class_names=("cat", "dog"), seed=1):
    """Returns a detector with random weights that is sure of something everywhere."""
    keras.utils.set_random_seed(seed)
    model = create_detector("swin_micro", num_classes=len(class_names), **FIELDS)
    model = type(model)(model.config.named(class_names))
    for weight in model.weights:
        if "logits_layer" in weight.path:
            deviation = 0.5 if "class" in weight.path else 0.05
            weight.assign(keras.random.normal(weight.shape, stddev=deviation, seed=seed))
    return model
