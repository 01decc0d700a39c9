"""From AugReg's B/32, pre-trained on ImageNet-21k, to small sets of pictures.

The best settings of big_vision's `transfer.py`, which also says what they reach (the mean of five
runs). 512 images a step for as many steps as its table has, here in epochs of the whole training
split.
"""

from keras_vit.training.recipes.published import epochs_of
from keras_vit.training.recipes.recipe import Recipe

# Name -> training images, steps, steps of warm-up, learning rate, crop, accuracy.
SETS = {
    "cifar10": (50_000, 10_000, 500, 0.003, "square_crop", 98.55),
    "cifar100": (50_000, 10_000, 500, 0.01, "square_crop", 91.35),
    "pets": (3_680, 500, 100, 0.003, "inception_crop", 93.78),
    "flowers": (1_020, 500, 100, 0.003, "inception_crop", 99.43),
}

RECIPES = {
    f"transfer_{name}": Recipe(
        "vit_b32",
        weights="vit_b32_augreg_i21k_recommended",
        config={"image_size": 384},
        # The middle 384 of 448 pixels.
        preprocessing={"resize": "crop", "crop": 384 / 448},
        epochs=round(epochs_of(steps, images, 512)),
        batch_size=512,
        optimizer="sgd",
        learning_rate=learning_rate,
        warmup_epochs=epochs_of(warmup, images, 512),
        weight_decay=0.0,
        augment=(crop, "flip"),
        source=f"big_vision's transfer.py, from arXiv 2106.10270: {accuracy} % of {name}",
    )
    for name, (images, steps, warmup, learning_rate, crop, accuracy) in SETS.items()
}
