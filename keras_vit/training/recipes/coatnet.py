"""CoAtNet on ImageNet alone.

Dai et al., *CoAtNet: Marrying Convolution and Attention for All Data Sizes*, 2021, arXiv
2106.04803, its tables of results and of hyper-parameters. Crop and flip, of which it says nothing,
are those of its contemporaries.
"""

from keras_vit.training.recipes.published import IMAGENET, epochs_of
from keras_vit.training.recipes.recipe import Recipe

# Size -> stochastic depth, accuracy at 224.
SIZES = {"0": (0.2, 81.6), "1": (0.3, 83.3), "2": (0.5, 84.1), "3": (0.7, 84.5)}

RECIPES = {
    f"coatnet_{size}": Recipe(
        f"coatnet_{size}",
        # The paper's pooling and strides; the package's defaults are timm's.
        config={"drop_path": drop_path, "pool": "max", "stride_in": "expansion"},
        epochs=300,
        batch_size=4096,
        learning_rate=1e-3,
        min_learning_rate=1e-5,
        warmup_epochs=epochs_of(10_000, IMAGENET, 4096),
        weight_decay=0.05,
        clip_norm=1.0,
        label_smoothing=0.1,
        augment=("inception_crop", "flip", "rand_augment(2, 15)", "mixup(0.8)"),
        source=f"arXiv 2106.04803: {accuracy} % of ImageNet",
    )
    for size, (drop_path, accuracy) in SIZES.items()
}
