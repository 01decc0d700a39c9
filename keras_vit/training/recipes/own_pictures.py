"""One's own pictures, a hundred or a hundred thousand. Made for that, not out of a table."""

from keras_vit.training.recipes.published import DEIT_AUGMENT
from keras_vit.training.recipes.recipe import Recipe

RECIPES = {
    # One's own pictures from published weights: small steps, smaller ones in the early blocks, as
    # in BEiT's and MAE's fine-tuning. Not measured here: the weights have to be downloaded.
    "fine_tune": Recipe(
        "vit_s16",
        weights="vit_s16_augreg_i21k",
        epochs=20,
        batch_size=64,
        learning_rate=3e-4,
        warmup_epochs=2.0,
        layer_decay=0.75,
        augment=("inception_crop", "flip"),
        label_smoothing=0.1,
    ),
    # One's own pictures from scratch, after DeiT's settings without its mixing of images.
    "from_scratch": Recipe(
        "vit_ti16",
        config={"drop_path": 0.1},
        preprocessing={"resize": "crop", "crop": 0.875},
        augment=("inception_crop", "flip"),
        label_smoothing=0.1,
    ),
    # A few thousand pictures from scratch: positions that need no learning, the mean of the patches
    # instead of a class token, and DeiT's augmentation, so that the pictures are not learned by
    # heart. Not measured.
    "small_data": Recipe(
        "vit_ti16",
        config={
            "drop_path": 0.1,
            "pooling": "gap",
            "class_token": False,
            "position": "sincos2d",
        },
        preprocessing={"resize": "crop", "crop": 0.875},
        epochs=300,
        warmup_epochs=10.0,
        label_smoothing=0.1,
        augment=DEIT_AUGMENT,
    ),
    # DINOv2's features as they are, and a head on class token and mean of the patches. The norm
    # before the head is trained with it; a linear head does not get more general by that.
    "linear_probe": Recipe(
        "dinov2_s14",
        weights="dinov2_s14",
        config={"image_size": 224, "pooling": "token_and_mean"},
        frozen_blocks=12,
        epochs=10,
        batch_size=128,
        optimizer="sgd",
        learning_rate=1e-2,
        warmup_epochs=0.0,
        weight_decay=0.0,
        augment=("resized_crop", "flip"),
        source="DINOv2's README, which tries many rates: 81.1 % of ImageNet",
    ),
    # The upper third of the blocks moves with the head: nearly as good as all, at less than half
    # the memory. Not measured.
    "last_blocks": Recipe(
        "dinov2_s14",
        weights="dinov2_s14",
        config={"image_size": 224, "pooling": "token_and_mean"},
        frozen_blocks=8,
        epochs=20,
        batch_size=64,
        learning_rate=1e-4,
        warmup_epochs=2.0,
        augment=("resized_crop", "flip"),
        label_smoothing=0.1,
    ),
}
