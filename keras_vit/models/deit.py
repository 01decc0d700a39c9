"""DeiT with a distillation token: a second head that learned from a teacher.

Touvron et al., *Training data-efficient image transformers & distillation through attention*,
2020, arXiv 2012.12877.
"""

import keras

from keras_vit.layers import Preprocessing
from keras_vit.models.base import head_dtype
from keras_vit.models.vit import VARIANTS, ViT

COMMON = {
    "patch_size": 16,
    # The distillation token; its position, and the class token's, are part of the tokens.
    "registers": 1,
    "class_position": False,
    "preprocessing": Preprocessing(
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
        resize="crop",
        crop=0.875,
        interpolation="bicubic",
    ),
}
NAMES = {f"deit_{size.lower()}16": {**COMMON, **VARIANTS[size]} for size in ("Ti", "S", "B")}


@keras.saving.register_keras_serializable(package="keras_vit")
class DeiT(ViT):
    """A distilled DeiT: class token and distillation token, a head each.

    The distillation token is the model's one register. In the original both tokens have entries in
    the position table; here those are part of the tokens, which gives the same sums. (A DeiT
    without distillation is a plain `ViT`.)

    Args and call arguments are those of `ViT`, with `registers=1` and `pooling="token"`.

    Returns:
        Logits `[b, num_classes]`: the mean of both heads' (layers `head` and
        `head_distillation`), as at inference in the paper.

    Raises:
        ValueError: for another number of registers, another pooling or no classes.
    """

    def __init__(self, config, name="deit", dtype=None, **kwargs):
        if config.registers != 1 or config.pooling != "token" or not config.num_classes:
            raise ValueError(
                "A distilled DeiT has `registers=1`, `pooling='token'` and classes. Received: "
                f"registers={config.registers}, pooling={config.pooling!r}, "
                f"num_classes={config.num_classes}."
            )
        super().__init__(config, name=name, dtype=dtype, **kwargs)

    @staticmethod
    def build_graph(config, policy):
        images, logits, taps = ViT.build_graph(config, policy)
        distillation = keras.layers.Dense(
            config.num_classes,
            kernel_initializer="zeros",
            bias_initializer=keras.initializers.Constant(config.head_bias),
            name="head_distillation",
            dtype=head_dtype(policy),
        )(taps["prefix"][:, 1])
        mean = keras.layers.Average(name="mean", dtype=head_dtype(policy))([logits, distillation])
        return images, mean, taps
