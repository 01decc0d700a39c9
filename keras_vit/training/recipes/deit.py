"""DeiT and DeiT-III, on ImageNet alone.

Touvron et al., *Training data-efficient image transformers & distillation through attention*, 2020,
arXiv 2012.12877, table 9; Touvron, Cord, Jégou, *DeiT III: Revenge of the ViT*, 2022, arXiv
2204.07118, table 1, and the commands in the authors' repository. There the rate changes once an
epoch, and its cosine starts with the warm-up, not after it; here at each step, and after. DeiT's
average of the weights is left out: the evaluated models are not averaged.
"""

import dataclasses

from keras_vit.training.recipes.published import COLOURS, DEIT_AUGMENT
from keras_vit.training.recipes.recipe import Recipe

PREPROCESSING = {**COLOURS, "resize": "crop", "interpolation": "bicubic"}
ACCURACY = {"ti16": 72.2, "s16": 79.9, "b16": 81.8}

PLAIN = {
    f"deit_{size}": Recipe(
        f"vit_{size}",
        config={"drop_path": 0.1},
        preprocessing={**PREPROCESSING, "crop": 0.875},
        epochs=300,
        batch_size=1024,
        # 5e-4 for 512 images.
        learning_rate=1e-3,
        warmup_epochs=5.0,
        min_learning_rate=1e-5,
        weight_decay=0.05,
        clip_norm=None,
        label_smoothing=0.1,
        augment=DEIT_AUGMENT,
        repeats=3,
        source=f"arXiv 2012.12877, table 9: {accuracy} % of ImageNet",
    )
    for size, accuracy in ACCURACY.items()
}
RECIPES = PLAIN | {
    # The teacher is whoever is named; the paper's is a RegNetY-16GF of 82.9 %.
    "deit_distilled": dataclasses.replace(
        PLAIN["deit_ti16"],
        model="deit_ti16",
        distillation={"loss": "hard"},
        source="arXiv 2012.12877, tables 3 and 9: 74.5 % of ImageNet",
    ),
    # The authors drop paths at 0.05 in every block; here it rises from 0 to that.
    "deit3_s16": Recipe(
        "vit_s16",
        config={"drop_path": 0.05, "layer_scale": 1e-4, "class_position": False},
        preprocessing={**PREPROCESSING, "crop": 1.0},
        epochs=800,
        batch_size=2048,
        optimizer="lamb",
        learning_rate=4e-3,
        warmup_epochs=5.0,
        min_learning_rate=1e-5,
        weight_decay=0.05,
        clip_norm=1.0,  # FusedLAMB's own
        loss="sigmoid_mean",
        augment=(
            "resized_crop",
            "flip",
            "three_augment",
            "color_jitter(0.3, 0.3, 0.3)",
            "mix_or_cut(0.8, 1.0)",
            "any_label",
        ),
        repeats=3,
        source="arXiv 2204.07118, table 1: 81.4 % of ImageNet",
    ),
}
