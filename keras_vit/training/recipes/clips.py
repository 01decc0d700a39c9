"""TimeSformer: from an image model to one of clips.

Bertasius et al., *Is Space-Time Attention All You Need for Video Understanding?*, 2021, arXiv
2102.05095, as in the authors' configurations. Their test averages three crops of one clip.
"""

from keras_vit.training.recipes.recipe import Recipe

RECIPES = {
    "timesformer_clips": Recipe(
        "timesformer_b16",
        weights="vit_b16_augreg_i21k",
        weights_model="vit_b16",
        epochs=15,
        batch_size=8,
        optimizer="sgd",
        learning_rate=0.005,
        schedule="tenths",
        warmup_epochs=0.0,
        weight_decay=1e-4,
        clip_norm=None,
        # The short side is resized to 256 to 320 pixels, and 224 are cut out.
        augment=("square_crop((0.7, 0.875))", "flip"),
        source="arXiv 2102.05095 and its repository: 77.9 % of Kinetics-400",
    ),
}
