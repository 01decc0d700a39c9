"""A masked autoencoder: a ViT that learns without labels, by painting patches that it cannot see.

He et al., *Masked Autoencoders Are Scalable Vision Learners*, 2021, arXiv 2111.06377: the ViTs of
its table 3, and the decoder of section 4.1.
"""

import dataclasses
from typing import ClassVar

import keras

from keras_vit.layers import LayerNorm, Patches, Preprocessing, TransformerBlock
from keras_vit.layers.activations import activation as activation_named
from keras_vit.layers.attention import head_dim
from keras_vit.layers.fixed_positions import FixedPatchEncoder, FixedPositions
from keras_vit.layers.masking import PatchMask, PatchNoise, RestoredTokens, VisibleTokens
from keras_vit.layers.sizes import pair, patch_grid
from keras_vit.models.base import (
    ImageModel,
    check_count,
    copy_by_path,
    fitted_preprocessing,
    head_dtype,
    image_input,
)
from keras_vit.models.vit import VARIANTS, ViT, ViTConfig

PREPROCESSING = Preprocessing(
    mean=(0.485, 0.456, 0.406),
    std=(0.229, 0.224, 0.225),
    resize="crop",
    crop=0.875,
    interpolation="bicubic",
)
NAMES = {
    f"mae_{size.lower()}{patch}": {
        **VARIANTS[size],
        "patch_size": patch,
        "preprocessing": PREPROCESSING,
    }
    for size, patch in (("B", 16), ("L", 16), ("H", 14))
}
# What a ViT takes over as it is.
SHARED = ("image_size", "patch_size", "channels", "width", "depth", "num_heads", "mlp_dim")
SHARED += ("activation", "norm_epsilon", "remat", "preprocessing")


@dataclasses.dataclass(frozen=True)
class MAEConfig:
    """Everything that defines a masked autoencoder.

    Args:
        image_size, patch_size: sides in pixels, or (height, width); the patch divides the image.
        channels: number of channels of the images.
        width, depth, num_heads, mlp_dim: sizes of the encoder, as in `ViTConfig`.
        decoder_width, decoder_depth, decoder_num_heads, decoder_mlp_dim: sizes of the decoder.
        mask_ratio: share of the patches that the encoder does not see, in (0, 1); of `n` patches
            it sees `int(n * (1 - mask_ratio))`, at least one.
        activation: one of `keras_vit.layers.ACTIVATIONS`.
        norm_epsilon: epsilon of the norms.
        num_classes: 0: a masked autoencoder has none.
        remat: whether the blocks compute their values twice in training instead of keeping them.
        preprocessing: a `Preprocessing`; None stands for mean and std 0.5.

    Raises:
        ValueError: for sizes that do not fit one another.
    """

    image_size: tuple = (224, 224)
    patch_size: tuple = (16, 16)
    channels: int = 3
    width: int = 768
    depth: int = 12
    num_heads: int = 12
    mlp_dim: int = 3072
    decoder_width: int = 512
    decoder_depth: int = 8
    decoder_num_heads: int = 16
    decoder_mlp_dim: int = 2048
    mask_ratio: float = 0.75
    activation: str = "gelu"
    norm_epsilon: float = 1e-6
    num_classes: int = 0
    remat: bool = False
    preprocessing: Preprocessing | None = None

    # What other models can choose.
    class_token: ClassVar[bool] = True
    class_position: ClassVar[bool] = True
    registers: ClassVar[int] = 0
    num_prefix: ClassVar[int] = 1

    def __post_init__(self):
        fix = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        fix("image_size", pair("image_size", self.image_size))
        fix("patch_size", pair("patch_size", self.patch_size))
        rows, columns = patch_grid(self.image_size, self.patch_size)
        check_count("channels", self.channels)
        for half in ("", "decoder_"):
            for name in ("width", "num_heads", "mlp_dim"):
                check_count(half + name, getattr(self, half + name))
            check_count(f"{half}depth", getattr(self, f"{half}depth"), least=0)
            head_dim(getattr(self, f"{half}width"), getattr(self, f"{half}num_heads"))
        activation_named(self.activation)
        if self.num_classes:
            raise ValueError(
                "A masked autoencoder has no classes: `num_classes` must be 0. "
                f"Received: num_classes={self.num_classes}."
            )
        _check_ratio(self.mask_ratio, rows * columns)
        fix("preprocessing", fitted_preprocessing(self))

    @property
    def projection_size(self):
        """(height, width) of what the projection to tokens is a kernel over."""
        return self.patch_size

    @property
    def grid(self):
        """(rows, columns) of the patches."""
        return patch_grid(self.image_size, self.patch_size)

    @property
    def keep(self):
        """How many patches the encoder sees."""
        return kept_patches(self.mask_ratio, self.grid[0] * self.grid[1])


def kept_patches(ratio, count):
    """Returns how many of `count` patches stay when a share is masked.

    Example:

    >>> kept_patches(0.75, 196)
    49
    """
    return int(count * (1 - ratio))


def _check_ratio(ratio, count):
    if not 0 < ratio < 1 or not 0 < kept_patches(ratio, count) < count:
        raise ValueError(
            "`mask_ratio` must be in (0, 1), and leave at least one patch to see and one to paint: "
            "at 0 there is nothing to learn, at 1 nothing to learn from. "
            f"Received: mask_ratio={ratio}, for {count} patches."
        )


@keras.saving.register_keras_serializable(package="keras_vit")
class MAE(ImageModel):
    """A masked autoencoder. Its loss is `keras_vit.objectives.MaskedPixelLoss`.

    The encoder sees a random share of the patches, the same number of each image; the decoder gets
    what it makes of them, and a learned token for each of the others, and paints these. Outside
    training the masking is always the same. Paths of the encoder's weights are a ViT's: `vit`
    makes one of it.

    Args:
        config: a `MAEConfig`.
        name, dtype: as in every model.

    Call arguments:
        images: float images `[b, h, w, c]`, normalised as `model.preprocessing` says.
        training: whether the masking is drawn anew.

    Returns:
        A dict, float32 under a mixed policy: `painted`, what the decoder makes of all patches, and
        `patches`, what they are, both `[b, n, p * p * c]`; `mask` `[b, n]`, 1 where the encoder saw
        nothing.

    Example:

    >>> config = MAEConfig(
    ...     image_size=32, patch_size=8, width=24, depth=1, num_heads=3, mlp_dim=48,
    ...     decoder_width=16, decoder_depth=1, decoder_num_heads=2, decoder_mlp_dim=32,
    ... )
    >>> config.keep
    4
    >>> MAE(config).compute_output_shape((5, 32, 32, 3))["painted"]
    (5, 16, 192)
    """

    config_class = MAEConfig

    def __init__(self, config, name="mae", dtype=None, **kwargs):
        super().__init__(config, name=name, dtype=dtype, **kwargs)
        noise = self.get_layer("noise").output
        by_noise = keras.Model([self.input, noise], self.output, name="by_noise")
        self._by_noise = lambda images, noise: by_noise([images, noise])

    @staticmethod
    def build_graph(config, policy):
        images = image_input(config, policy)
        exact = head_dtype(policy)
        patches = Patches(config.patch_size, name="patches", dtype=policy)(images)
        noise = PatchNoise(name="noise", dtype=exact)(patches)
        encoder = FixedPatchEncoder(config.width, config.grid, name="patch_encoder", dtype=policy)
        x = VisibleTokens(config.keep, name="visible", dtype=policy)(encoder(patches), noise)
        x = _blocks(x, config, policy, "")
        encoded = LayerNorm(config.norm_epsilon, name="norm", dtype=policy)(x)
        painted = _decoded(encoded, noise, config, policy)
        outputs = {
            "painted": painted,
            "patches": Patches(config.patch_size, name="targets", dtype=exact)(images),
            "mask": PatchMask(config.keep, name="mask", dtype=exact)(noise),
        }
        taps = {"tokens": encoded[:, 1:], "prefix": encoded[:, :1], "pooled": encoded[:, 0]}
        return images, outputs, taps

    def painted(self, images, noise):
        """Returns what the model gives where the masking is chosen.

        Args:
            images: normalised float images `[b, h, w, c]`.
            noise: float `[b, n]`: of each image the patches with the smallest numbers are seen.

        Returns:
            A dict as the model gives it.
        """
        return self._by_noise(images, noise)

    def vit(self, name="vit", dtype=None, **fields):
        """Returns a `ViT` with the encoder's weights, to be fine-tuned or probed.

        It has a table of positions that can be trained, with MAE's numbers. With
        `pooling="gap_then_norm"`, the way of MAE's fine-tuning, the norm is new, as there.

        Args:
            name, dtype: of the ViT.
            **fields: fields of `ViTConfig`, such as `num_classes=10`, `pooling="gap_then_norm"`,
                `drop_path=0.1`.
        """
        shared = {field: getattr(self.config, field) for field in SHARED}
        config = ViTConfig(**{**shared, "num_classes": 0, **fields})
        model = ViT(config, name=name, dtype=dtype or self.policy)
        new = "norm/" if config.pooling == "gap_then_norm" else None
        copy_by_path(self, model, lambda path: None if new and path.startswith(new) else path)
        return model


def _blocks(x, config, policy, half):
    for index in range(getattr(config, f"{half}depth")):
        x = TransformerBlock(
            getattr(config, f"{half}num_heads"),
            getattr(config, f"{half}mlp_dim"),
            activation=config.activation,
            norm_epsilon=config.norm_epsilon,
            remat=config.remat,
            name=f"{half}block_{index}",
            dtype=policy,
        )(x)
    return x


def _decoded(encoded, noise, config, policy):
    """What the decoder makes of all patches, `[b, n, p * p * c]`."""
    height, width = config.patch_size
    x = keras.layers.Dense(config.decoder_width, name="decoder_embed", dtype=policy)(encoded)
    x = RestoredTokens(config.keep, name="decoder_restored", dtype=policy)(x, noise)
    x = FixedPositions(config.grid, name="decoder_positions", dtype=policy)(x)
    x = _blocks(x, config, policy, "decoder_")
    x = LayerNorm(config.norm_epsilon, name="decoder_norm", dtype=policy)(x)
    painted = keras.layers.Dense(
        height * width * config.channels, name="decoder_pixels", dtype=head_dtype(policy)
    )(x)
    return painted[:, 1:]
