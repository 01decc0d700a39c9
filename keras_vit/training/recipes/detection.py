"""Detection of what is in one's own pictures, by a Swin-T.

The rate, the decay and the dropped paths are those of Liu et al., *Swin Transformer*, 2021, arXiv
2103.14030, section 4.2, for detectors on COCO; their heads are others. Not measured.
"""

from keras_vit.models.swin import AT_224
from keras_vit.training.recipes.recipe import Recipe

RECIPES = {
    "detection": Recipe(
        "swin_t",
        config={"image_size": 512, "backbone_fields": {"drop_path": 0.2}},
        preprocessing={"mean": AT_224.mean, "std": AT_224.std},
        epochs=36,
        batch_size=16,
        learning_rate=1e-4,
        warmup_epochs=1.0,
        weight_decay=0.05,
        loss="detection",
        augment=("inception_crop((0.4, 1.0))", "flip", "color_jitter(0.3, 0.3, 0.3)"),
    ),
}
