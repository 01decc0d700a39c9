"""The hybrid of the original paper, fine-tuned on ImageNet at 384.

Dosovitskiy et al., *An Image is Worth 16x16 Words*, 2020, arXiv 2010.11929, table 4, with the
dropout of the authors' own configuration. What it starts from, the authors' R50+ViT-B_16 of
ImageNet-21k, is a file of your own: `--set weights=PATH.npz`.
"""

from keras_vit.training.recipes.published import IMAGENET, epochs_of
from keras_vit.training.recipes.recipe import Recipe

RECIPES = {
    "hybrid_384_r50_b16": Recipe(
        "r50_b16",
        config={"image_size": 384, "dropout": 0.1},
        epochs=8,
        batch_size=512,
        optimizer="sgd",
        learning_rate=0.03,
        warmup_epochs=epochs_of(500, IMAGENET, 512),
        weight_decay=0.0,
        augment=("inception_crop", "flip"),
        source="arXiv 2010.11929, table 4: 85.08 % of ImageNet by the authors' code",
    ),
}
