"""A ResNet whose feature map a ViT reads: the hybrids of the ViT paper.

Dosovitskiy et al., *An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale*,
2020, arXiv 2010.11929 (R50+B/16); the others from Steiner et al., *How to train your ViT?*, 2021,
arXiv 2106.10270 (table 1).
"""

import dataclasses

import keras

from keras_vit.layers import Bottleneck, GroupNorm, StandardisedConv
from keras_vit.layers.standardised_conv import standardisation_named
from keras_vit.models.base import NamedVariants, check_count, image_input, stage_taps
from keras_vit.models.vit import VARIANTS as VIT_VARIANTS
from keras_vit.models.vit import ViT, ViTConfig, transformer

# Name -> (units of each stage of the ResNet, size of the ViT, pixels of the image a token). The
# ViT of R+Ti/16 has patches of 8 x 8 on a map of stride 4. In R50 with 16 pixels a token, the
# units of the last stage are moved into the third.
VARIANTS = {
    "r_ti16": ((), "Ti", 32),
    "r26_s32": ((2, 2, 2, 2), "S", 32),
    "r26_b32": ((2, 2, 2, 2), "B", 32),
    "r50_b16": ((3, 4, 9), "B", 16),
    "r50_b32": ((3, 4, 6, 3), "B", 32),
    "r50_l16": ((3, 4, 9), "L", 16),
    "r50_l32": ((3, 4, 6, 3), "L", 32),
}
# Name -> fields of the config.
NAMES = {
    name: {"units": units, "patch_size": patch, **VIT_VARIANTS[size]}
    for name, (units, size, patch) in VARIANTS.items()
}


@dataclasses.dataclass(frozen=True)
class HybridConfig(ViTConfig):
    """Everything that defines a hybrid: the fields of `ViTConfig`, and those of the ResNet.

    Args:
        patch_size: pixels of the image a token, or (height, width): a multiple of the ResNet's
            stride, which is 4, twice that for each stage after the first.
        units: residual units of each stage of the ResNet; empty for its root alone.
        root_width: channels of the root, a multiple of 32, the number of groups in the norms.
        group_norm_epsilon: epsilon of the ResNet's norms: 1e-5 in timm, 1e-6 in the JAX code.
        standardisation: one of `keras_vit.layers.STANDARDISATIONS`: `"variance"` in timm,
            `"deviation"` in the JAX code.
        remat: whether units and blocks compute their values twice in training.
    """

    units: tuple = (3, 4, 9)
    root_width: int = 64
    group_norm_epsilon: float = 1e-5
    standardisation: str = "variance"

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "units", tuple(self.units))
        check_count("root_width", self.root_width)
        standardisation_named(self.standardisation)
        if any(side % self.stride for side in self.patch_size):
            raise ValueError(
                "`patch_size` must be a multiple of the ResNet's stride. "
                f"Received: patch_size={self.patch_size}, stride={self.stride}."
            )

    @property
    def stride(self):
        """Pixels of the image that a pixel of the ResNet's map stands for."""
        return 4 * 2 ** max(len(self.units) - 1, 0)

    @property
    def projection_size(self):
        """(height, width) of a patch on the ResNet's map."""
        return tuple(side // self.stride for side in self.patch_size)

    @property
    def map_width(self):
        """Channels of the ResNet's map."""
        return 2 * self.root_width * 2 ** len(self.units) if self.units else self.root_width


@keras.saving.register_keras_serializable(package="keras_vit")
class Hybrid(NamedVariants, ViT):
    """A ViT on the feature map of a ResNet: normalised float images in, logits out.

    The ResNet's layers are `root_conv`, `root_norm` and `unit_0` … through all stages; then comes
    what a `ViT` has. Beside what `ViT.features` returns there is the map of each of the ResNet's
    stages: `stage_0` …

    Args and call arguments are those of `ViT`, with a `HybridConfig`.

    Example:

    >>> config = HybridConfig(
    ...     image_size=32, units=(1, 1), patch_size=8, width=12, depth=1, num_heads=2, mlp_dim=8
    ... )
    >>> Hybrid(config).get_layer("patch_encoder").output.shape
    (None, 17, 12)
    """

    config_class = HybridConfig
    variants = NAMES

    def __init__(self, config, name="hybrid", dtype=None, **kwargs):
        super().__init__(config, name=name, dtype=dtype, **kwargs)

    @staticmethod
    def build_graph(config, policy):
        images = image_input(config, policy)
        stages = _resnet(images, config, policy)
        logits, taps = transformer(stages[-1], config, policy)
        return images, logits, {**taps, **(stage_taps(stages) if config.units else {})}


def _resnet(images, config, policy):
    """The map of each stage, or that of the root where there are none."""
    options = {"standardisation": config.standardisation, "dtype": policy}
    x = StandardisedConv(config.root_width, 7, 2, name="root_conv", **options)(images)
    x = GroupNorm(epsilon=config.group_norm_epsilon, name="root_norm", dtype=policy)(x)
    x = keras.layers.ReLU(name="root_relu", dtype=policy)(x)
    x = keras.layers.MaxPooling2D(3, 2, "same", name="root_pool", dtype=policy)(x)
    stages, count = [x], 0
    for stage, depth in enumerate(config.units):
        for unit in range(depth):
            x = Bottleneck(
                config.root_width * 2**stage,
                stride=2 if stage and not unit else 1,
                norm_epsilon=config.group_norm_epsilon,
                remat=config.remat,
                name=f"unit_{count}",
                **options,
            )(x)
            count += 1
        stages.append(x)
    return stages[1:] or stages
