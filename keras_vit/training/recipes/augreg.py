"""From scratch on ImageNet and ImageNet-21k, with as much augmentation as a size needs.

Steiner et al., *How to train your ViT? Data, Augmentation, and Regularization in Vision
Transformers*, 2021, arXiv 2106.10270, as in big_vision's `vit_i1k.py` and `vit_i21k.py`: 300 epochs
of 4096 images a step. Its weight decay of 1e-4 at a highest rate of 1e-3 is 0.1 here.
"""

from keras_vit.training.recipes.published import CENTRE, IMAGENET, IMAGENET_21K, JAX, epochs_of
from keras_vit.training.recipes.recipe import Recipe

# Name of the paper's figure 4 -> RandAugment and MixUp.
LEVELS = {
    "none": (),
    "light1": ("rand_augment(2, 0)",),  # not nothing: colours fade to a tenth
    "light2": ("rand_augment(2, 10)", "mixup(0.2)"),
    "medium1": ("rand_augment(2, 15)", "mixup(0.2)"),
    "medium2": ("rand_augment(2, 15)", "mixup(0.5)"),
    "strong1": ("rand_augment(2, 20)", "mixup(0.5)"),
    "strong2": ("rand_augment(2, 20)", "mixup(0.8)"),
}
# Model -> level, and the accuracy on ImageNet that timm measures, at 224, where it does.
I1K = {
    "vit_ti16": ("light1", ""),
    "vit_s32": ("medium1", ""),
    "vit_s16": ("medium2", ": 78.84 % of ImageNet"),
    "vit_b32": ("medium2", ": 74.91 % of ImageNet"),
    "vit_b16": ("medium2", ": 79.15 % of ImageNet"),
    "vit_l16": ("medium2", ""),
}
# Model -> level, and the accuracy after fine-tuning at 384, from the table of the authors' code.
I21K = {
    "vit_ti16": ("none", 78.22),
    "vit_s32": ("none", 79.58),
    "vit_s16": ("light1", 83.73),
    "vit_b32": ("light2", 83.59),
    "vit_b16": ("light2", 85.49),
    "vit_l16": ("medium2", 85.59),
}


def _recipe(model, level, images, config, source):
    return Recipe(
        model,
        config={**JAX, **config},
        preprocessing=CENTRE,
        epochs=300,
        batch_size=4096,
        learning_rate=1e-3,
        warmup_epochs=epochs_of(10_000, images, 4096),
        weight_decay=0.1,
        loss="sigmoid",
        augment=("inception_crop", "flip", *LEVELS[level]),
        source=f"arXiv 2106.10270, figure 4, {level}{source}",
    )


def _width(model):
    return {"ti": 192, "s": 384, "b": 768, "l": 1024}[model[4:-2]]


RECIPES = {
    f"augreg_i1k_{model[4:]}": _recipe(
        model,
        level,
        IMAGENET,
        {"representation_size": _width(model), "head_bias": -6.9},
        accuracy,
    )
    for model, (level, accuracy) in I1K.items()
} | {
    f"augreg_i21k_{model[4:]}": _recipe(
        model,
        level,
        IMAGENET_21K,
        {"pooling": "gap", "class_token": False, "head_bias": -10.0},
        f": {accuracy} % of ImageNet after fine-tuning at 384",
    )
    for model, (level, accuracy) in I21K.items()
}
