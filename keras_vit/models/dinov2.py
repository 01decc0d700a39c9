"""DINOv2: a ViT with LayerScale, with or without registers, whose weights are used as features.

Oquab et al., *DINOv2: Learning Robust Visual Features without Supervision*, 2023, arXiv
2304.07193 (table 16 gives the sizes); Darcet et al., *Vision Transformers Need Registers*, 2023,
arXiv 2309.16588.
"""

import keras

from keras_vit.layers import Preprocessing
from keras_vit.models.vit import VARIANTS as VIT_VARIANTS
from keras_vit.models.vit import ViT

# Images of 518 pixels are what the position tables are for.
COMMON = {
    "image_size": 518,
    "patch_size": 14,
    "num_classes": 0,
    "layer_scale": 1e-5,
    "preprocessing": Preprocessing(
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
        resize="crop",
        crop=0.875,
        interpolation="bicubic",
    ),
}
SIZES = {
    "s": VIT_VARIANTS["S"],
    "b": VIT_VARIANTS["B"],
    "l": VIT_VARIANTS["L"],
    # Its MLP is SwiGLU, with gates of two thirds of four times the width.
    "g": {
        "width": 1536,
        "depth": 40,
        "num_heads": 24,
        "mlp_dim": 4096,
        "mlp": "swiglu",
        "activation": "silu",
    },
}


def _names():
    for size, fields in SIZES.items():
        yield f"dinov2_{size}14", {**COMMON, **fields}
        yield f"dinov2_{size}14_reg", {**COMMON, **fields, "registers": 4}


NAMES = dict(_names())


@keras.saving.register_keras_serializable(package="keras_vit")
class DINOv2(ViT):
    """A DINOv2 backbone; without a head by default: the output is the class token.

    Args, call arguments and returns are those of `ViT`. A head that takes class token and mean of
    the patch tokens together, as DINOv2's own linear probes do, has `pooling="token_and_mean"`.

    Example:

    >>> from keras_vit.models import ViTConfig
    >>> config = ViTConfig(**{**NAMES["dinov2_s14_reg"], "image_size": 28, "depth": 1})
    >>> DINOv2(config).output_shape
    (None, 384)
    """

    def __init__(self, config, name="dinov2", dtype=None, **kwargs):
        super().__init__(config, name=name, dtype=dtype, **kwargs)
