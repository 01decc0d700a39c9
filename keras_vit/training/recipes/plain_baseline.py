"""S/16 on ImageNet without any trick: 76 % in 90 epochs.

Beyer, Zhai, Kolesnikov, *Better plain ViT baselines for ImageNet-1k*, 2022, arXiv 2205.01580, as in
big_vision's `vit_s16_i1k.py`.
"""

from keras_vit.training.recipes.published import CENTRE, IMAGENET, JAX, epochs_of
from keras_vit.training.recipes.recipe import Recipe

ACCURACY = {90: 76.5, 150: 78.5, 300: 80.0}

RECIPES = {
    f"plain_s16_{epochs}": Recipe(
        "vit_s16",
        config={
            **JAX,
            "pooling": "gap",
            "class_token": False,
            "position": "sincos2d",
            "representation_size": 384,
        },
        preprocessing=CENTRE,
        epochs=epochs,
        batch_size=1024,
        learning_rate=1e-3,
        warmup_epochs=epochs_of(10_000, IMAGENET, 1024),
        # 1e-4 there, times the schedule relative to its highest rate: 1e-4 / 1e-3 here.
        weight_decay=0.1,
        augment=("inception_crop", "flip", "rand_augment(2, 10)", "mixup(0.2)"),
        source=f"arXiv 2205.01580, table 1: {accuracy} % of ImageNet after {epochs} epochs",
    )
    for epochs, accuracy in ACCURACY.items()
}
