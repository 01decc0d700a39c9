"""Swin on ImageNet.

Liu et al., *Swin Transformer: Hierarchical Vision Transformer using Shifted Windows*, 2021, arXiv
2103.14030, table 1 and appendix A2.1, as in the authors' code, whose warm-up begins at 5e-7 for 512
images; here it begins at 0.
"""

from keras_vit.training.recipes.published import DEIT_AUGMENT
from keras_vit.training.recipes.recipe import Recipe

# Size -> stochastic depth, accuracy that the authors' repository states.
SIZES = {"t": (0.2, 81.2), "s": (0.3, 83.2), "b": (0.5, 83.5)}

RECIPES = {
    f"swin_{size}": Recipe(
        f"swin_{size}",
        config={"drop_path": drop_path},
        epochs=300,
        batch_size=1024,
        # 5e-4 and 5e-6 for 512 images.
        learning_rate=1e-3,
        min_learning_rate=1e-5,
        warmup_epochs=20.0,
        weight_decay=0.05,
        clip_norm=5.0,
        label_smoothing=0.1,
        augment=DEIT_AUGMENT,
        source=f"arXiv 2103.14030, table 1: {accuracy} % of ImageNet by the authors' code",
    )
    for size, (drop_path, accuracy) in SIZES.items()
}
