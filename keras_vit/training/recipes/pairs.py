"""CLIP: images with their texts.

Radford et al., *Learning Transferable Visual Models From Natural Language Supervision*, 2021, arXiv
2103.00020, tables 18 and 19. Its Adam has a second decay of 0.98 and an epsilon of 1e-6.
"""

from keras_vit.models.clip import PREPROCESSING
from keras_vit.training.recipes.published import epochs_of
from keras_vit.training.recipes.recipe import Recipe

PAIRS = 400_000_000
NORMALISED = {
    name: getattr(PREPROCESSING, name) for name in ("mean", "std", "resize", "interpolation")
}

RECIPES = {
    "clip_b32": Recipe(
        "clip_b32",
        preprocessing=NORMALISED,
        epochs=32,
        batch_size=32_768,
        learning_rate=5e-4,
        warmup_epochs=epochs_of(2_000, PAIRS, 32_768),
        weight_decay=0.2,
        clip_norm=None,
        loss="contrastive",
        # A square as large as the picture, anywhere in it.
        augment=("square_crop(1.0)",),
        source="arXiv 2103.00020, tables 18 and 19",
    ),
    # One's own pairs, from scratch: small towers, some ten thousand pairs. Not measured.
    "clip_pairs": Recipe(
        "clip_b32",
        config={
            "patch_size": 16,
            "width": 192,
            "num_heads": 3,
            "mlp_dim": 768,
            "text_width": 192,
            "text_depth": 6,
            "text_num_heads": 3,
            "text_mlp_dim": 768,
            "embedding_dim": 192,
            "activation": "gelu",
        },
        preprocessing=NORMALISED,
        epochs=30,
        batch_size=256,
        learning_rate=1e-3,
        warmup_epochs=2.0,
        weight_decay=0.1,
        loss="contrastive",
        augment=("inception_crop((0.5, 1.0))",),
    ),
}
