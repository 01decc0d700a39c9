"""Masked autoencoders: pre-training without labels, and what is done with them then.

He et al., *Masked Autoencoders Are Scalable Vision Learners*, 2021, arXiv 2111.06377, tables 8 to
10 and the commands in the authors' repository. The rate is a number for 256 images times the batch.
`weights` of the two later stages are the published ones; of a pre-training of your own, give the
file that `keras_vit.weights.save(model, "mae.safetensors", format="mae")` writes. The authors
normalise what the probe sees by a batch norm and train it with LARS; here it is SGD with momentum,
with a tenth of the rate, upon the norm of the encoder, which is trained along.
"""

from keras_vit.training.recipes.published import COLOURS, DEIT_AUGMENT
from keras_vit.training.recipes.recipe import Recipe

PREPROCESSING = {**COLOURS, "resize": "crop", "crop": 0.875, "interpolation": "bicubic"}
# Size -> its model, the ViT's and its weights, decay of a layer, epochs, drop path, rate, accuracy.
SIZES = {
    "b16": (0.65, 100, 0.1, 2e-3, 83.6),
    "l16": (0.75, 50, 0.2, 4e-3, 85.9),
    "h14": (0.75, 50, 0.3, 4e-3, 86.9),
}
PROBES = {"b16": (90, 68.0), "l16": (50, 75.8), "h14": (50, 76.6)}

RECIPES = (
    {
        f"mae_{size}": Recipe(
            f"mae_{size}",
            preprocessing=PREPROCESSING,
            epochs=800,
            batch_size=4096,
            optimizer="adamw_95",
            learning_rate=2.4e-3,  # 1.5e-4 for 256 images
            warmup_epochs=40.0,
            weight_decay=0.05,
            clip_norm=None,
            loss="masked_pixels",
            augment=("resized_crop((0.2, 1.0))", "flip"),
            source="arXiv 2111.06377, table 8",
        )
        for size in SIZES
    }
    | {
        f"mae_fine_tune_{size}": Recipe(
            f"vit_{size}",
            weights=f"vit_{size}_mae",
            config={"pooling": "gap_then_norm", "drop_path": drop_path},
            preprocessing=PREPROCESSING,
            layer_decay=decay,
            epochs=epochs,
            batch_size=1024,
            learning_rate=rate,
            warmup_epochs=5.0,
            min_learning_rate=1e-6,
            weight_decay=0.05,
            clip_norm=None,
            label_smoothing=0.1,
            augment=DEIT_AUGMENT,
            source=f"arXiv 2111.06377, tables 3 and 9: {accuracy} % of ImageNet",
        )
        for size, (decay, epochs, drop_path, rate, accuracy) in SIZES.items()
    }
    | {
        f"mae_linear_probe_{size}": Recipe(
            f"vit_{size}",
            weights=f"vit_{size}_mae",
            preprocessing=PREPROCESSING,
            frozen_blocks={"b16": 12, "l16": 24, "h14": 32}[size],
            epochs=epochs,
            batch_size=4096,
            optimizer="sgd",
            learning_rate=0.16,
            warmup_epochs=10.0,
            weight_decay=0.0,
            clip_norm=None,
            augment=("resized_crop", "flip"),
            source=f"arXiv 2111.06377, table 10: {accuracy} % of ImageNet, with LARS",
        )
        for size, (epochs, accuracy) in PROBES.items()
    }
)
