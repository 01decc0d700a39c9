"""A Performer for long sequences. No published table is of a Performer of this package's images."""

from keras_vit.training.recipes.recipe import Recipe

RECIPES = {
    # 2,304 tokens: `from_scratch` at patches so small that attention of the softmax is the most of
    # the work. Not measured.
    "performer_small_patches": Recipe(
        "vit_ti16",
        config={
            "drop_path": 0.1,
            "attention": "performer",
            "image_size": 384,
            "patch_size": 8,
        },
        preprocessing={"resize": "crop", "crop": 0.875},
        augment=("inception_crop", "flip"),
        label_smoothing=0.1,
    ),
}
