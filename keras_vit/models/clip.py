"""CLIP: a tower for images and one for texts, whose vectors meet.

Radford et al., *Learning Transferable Visual Models From Natural Language Supervision*, 2021,
arXiv 2103.00020: the ViTs of table 20. The sizes that OpenCLIP added are those of its model
configurations: Cherti et al., *Reproducible Scaling Laws for Contrastive Language-Image Learning*,
2022, arXiv 2212.07143 (H/14, g/14), and what its authors published since.
"""

import dataclasses
import math
from typing import ClassVar

import keras

from keras_vit.layers import (
    EndOfTextPooling,
    LayerNorm,
    LogitBias,
    LogitScale,
    PatchEncoder,
    Patches,
    Preprocessing,
    TokenEncoder,
    TokenPooling,
    TransformerBlock,
)
from keras_vit.layers.activations import activation as activation_named
from keras_vit.layers.attention import head_dim
from keras_vit.layers.sizes import pair, patch_grid
from keras_vit.models.base import (
    ImageModel,
    check_count,
    fitted_preprocessing,
    head_dtype,
    image_input,
)
from keras_vit.models.vit import VARIANTS as VIT_VARIANTS

PREPROCESSING = Preprocessing(
    mean=(0.48145466, 0.4578275, 0.40821073),
    std=(0.26862954, 0.26130258, 0.27577711),
    resize="crop",
    crop=1.0,
    interpolation="bicubic",
)
# The text towers, with the size of the vectors that go with them.
TEXTS = {
    "B": (512, 12, 8, 512),
    "B_plus": (640, 12, 10, 640),
    "L": (768, 12, 12, 768),
    "H": (1024, 24, 16, 1024),
    "G": (1280, 32, 20, 1280),
}


def _fields(image, patch, text, image_size=224, activation="quick_gelu"):
    width, depth, heads, embedding = TEXTS[text]
    return {
        **image,
        "patch_size": patch,
        "image_size": image_size,
        "text_width": width,
        "text_depth": depth,
        "text_num_heads": heads,
        "text_mlp_dim": 4 * width,
        "embedding_dim": embedding,
        "activation": activation,
    }


B, L, H = (VIT_VARIANTS[size] for size in ("B", "L", "H"))
B_PLUS = {"width": 896, "depth": 12, "num_heads": 14, "mlp_dim": 3584}
# Name -> fields of the config. The first four are OpenAI's. OpenCLIP's weights of those sizes were
# trained with the exact GELU: `activation="gelu"`.
NAMES = {
    "clip_b32": _fields(B, 32, "B"),
    "clip_b16": _fields(B, 16, "B"),
    "clip_l14": _fields(L, 14, "L"),
    "clip_l14_336": _fields(L, 14, "L", 336),
    "clip_b32_256": _fields(B, 32, "B", 256, "gelu"),
    "clip_b16_plus_240": _fields(B_PLUS, 16, "B_plus", 240, "gelu"),
    "clip_h14": _fields(H, 14, "H", 224, "gelu"),
    "clip_h14_378": _fields(H, 14, "H", 378),
    "clip_g14": _fields(VIT_VARIANTS["g"], 14, "H", 224, "gelu"),
    "clip_gigantic14": _fields(VIT_VARIANTS["G"], 14, "G", 224, "gelu"),
}


@dataclasses.dataclass(frozen=True)
class CLIPConfig:
    """Everything that defines a CLIP.

    Args:
        image_size, patch_size: sides in pixels, or (height, width); the patch divides the image.
        channels: number of channels of the images.
        width, depth, num_heads, mlp_dim: sizes of the image tower, as in `ViTConfig`.
        text_width, text_depth, text_num_heads, text_mlp_dim: sizes of the text tower.
        embedding_dim: size of the vectors that meet.
        vocabulary_size: how many pieces of text there are.
        context_length: how many pieces a text is filled up, or cut, to.
        end_token: the piece that ends a text; None stands for the last of the vocabulary.
        activation: one of `keras_vit.layers.ACTIVATIONS`; OpenAI's weights need `"quick_gelu"`.
        norm_epsilon: epsilon of the norms.
        logit_scale: start value of the logarithm of the scale of the logits.
        largest_scale: bound of the scale itself, kept by every step of the optimizer.
        logit_bias: start value of what is added to the logits, or None for no such weight. The
            sigmoid loss needs one; its paper starts with a `logit_scale` of `ln 10` and -10.
        num_classes: number of classes that an `ImageTower` tells apart by itself; 0 in a `CLIP`.
        remat: whether the blocks compute their values twice in training instead of keeping them.
        preprocessing: a `Preprocessing`; None stands for OpenAI's, or for mean and std 0.5 where
            the images have not three channels.

    Raises:
        ValueError: for sizes that do not fit one another, or names that do not exist.
    """

    image_size: tuple = (224, 224)
    patch_size: tuple = (32, 32)
    channels: int = 3
    width: int = 768
    depth: int = 12
    num_heads: int = 12
    mlp_dim: int = 3072
    text_width: int = 512
    text_depth: int = 12
    text_num_heads: int = 8
    text_mlp_dim: int = 2048
    embedding_dim: int = 512
    vocabulary_size: int = 49408
    context_length: int = 77
    end_token: int | None = None
    activation: str = "quick_gelu"
    norm_epsilon: float = 1e-5
    logit_scale: float = math.log(1 / 0.07)
    largest_scale: float = 100.0
    logit_bias: float | None = None
    num_classes: int = 0
    remat: bool = False
    preprocessing: Preprocessing | None = None

    # What other models can choose.
    class_token: ClassVar[bool] = True
    class_position: ClassVar[bool] = True
    registers: ClassVar[int] = 0

    def __post_init__(self):
        fix = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        fix("image_size", pair("image_size", self.image_size))
        fix("patch_size", pair("patch_size", self.patch_size))
        patch_grid(self.image_size, self.patch_size)
        for name in ("channels", "embedding_dim", "vocabulary_size"):
            check_count(name, getattr(self, name))
        check_count("num_classes", self.num_classes, least=0)
        check_count("context_length", self.context_length, least=2)  # a text's begin and end
        for tower in ("", "text_"):
            for name in ("width", "num_heads", "mlp_dim"):
                check_count(tower + name, getattr(self, tower + name))
            check_count(f"{tower}depth", getattr(self, f"{tower}depth"), least=0)
            head_dim(getattr(self, f"{tower}width"), getattr(self, f"{tower}num_heads"))
        if self.end_token is None:
            fix("end_token", self.vocabulary_size - 1)
        if not 0 <= self.end_token < self.vocabulary_size:
            raise ValueError(
                "`end_token` must be in [0, vocabulary_size). Received: "
                f"end_token={self.end_token}, vocabulary_size={self.vocabulary_size}."
            )
        activation_named(self.activation)
        if self.preprocessing is None and self.channels == 3:
            fix("preprocessing", PREPROCESSING)
        fix("preprocessing", fitted_preprocessing(self))

    @property
    def num_prefix(self):
        """Number of tokens before the patches: the class token."""
        return 1

    @property
    def projection_size(self):
        """(height, width) of what the projection to tokens is a kernel over."""
        return self.patch_size


@keras.saving.register_keras_serializable(package="keras_vit")
class ImageTower(ImageModel):
    """The image half of a CLIP: normalised float images in, vectors `[b, embedding_dim]` out.

    The vectors are not of length one. With `num_classes` it is a classifier, whose logits
    `[b, num_classes]` are products of vectors of length one with a kernel, `head`: that of
    `keras_vit.objectives.zero_shot_classifier` comes from texts. Blocks, norm and taps are named
    as in a `ViT`.

    Args:
        config: a `CLIPConfig`.
        name, dtype: as in every model.

    Call arguments:
        images: float images `[b, h, w, c]`, normalised as `model.preprocessing` says.
        training: whether the model is being trained.
    """

    config_class = CLIPConfig

    def __init__(self, config, name="image", dtype=None, **kwargs):
        super().__init__(config, name=name, dtype=dtype, **kwargs)

    @staticmethod
    def build_graph(config, policy):
        images = image_input(config, policy)
        # Both towers have a `block_0`: their weights' paths begin with their names.
        with keras.name_scope("image"):
            x = Patches(config.patch_size, name="patches", dtype=policy)(images)
            x = PatchEncoder(
                config.width,
                patch_grid(config.image_size, config.patch_size),
                use_bias=False,
                name="patch_encoder",
                dtype=policy,
            )(x)
            x = LayerNorm(config.norm_epsilon, name="norm_pre", dtype=policy)(x)
            x = _blocks(x, config, policy, "", "softmax")
            normed = LayerNorm(config.norm_epsilon, name="norm", dtype=policy)(x)
            pooled = TokenPooling(name="pool", dtype=policy)(normed)
            outputs = _projection(pooled, config, policy)
            if config.num_classes:
                unit = keras.layers.UnitNormalization(name="embedding", dtype=head_dtype(policy))
                head = keras.layers.Dense(
                    config.num_classes, use_bias=False, name="head", dtype=head_dtype(policy)
                )
                outputs = head(unit(outputs))
        taps = {"tokens": normed[:, 1:], "prefix": normed[:, :1], "pooled": pooled}
        return images, outputs, taps


@keras.saving.register_keras_serializable(package="keras_vit")
class TextTower(ImageModel):
    """The text half of a CLIP: pieces of text in, vectors `[b, embedding_dim]` out.

    The vectors are not of length one.

    Args:
        config: a `CLIPConfig`.
        name, dtype: as in every model.

    Call arguments:
        texts: int32 `[b, context_length]`, as `keras_vit.data.Tokenizer` gives it.
        training: whether the model is being trained.
    """

    config_class = CLIPConfig

    def __init__(self, config, name="text", dtype=None, **kwargs):
        super().__init__(config, name=name, dtype=dtype, **kwargs)

    @staticmethod
    def build_graph(config, policy):
        texts = _text_input(config)
        with keras.name_scope("text"):
            x = TokenEncoder(
                config.text_width, config.vocabulary_size, name="token_encoder", dtype=policy
            )(texts)
            x = _blocks(x, config, policy, "text_", "causal")
            normed = LayerNorm(config.norm_epsilon, name="norm", dtype=policy)(x)
            pooled = EndOfTextPooling(config.end_token, name="pool", dtype=policy)(normed, texts)
            vectors = _projection(pooled, config, policy)
        return texts, vectors, {"tokens": normed, "pooled": pooled}


@keras.saving.register_keras_serializable(package="keras_vit")
class CLIP(ImageModel):
    """Image and text in one space: a pair that belongs together points the same way.

    Its loss is `keras_vit.objectives.ContrastiveLoss` or `SigmoidLoss`. The towers,
    `model.image_tower` and `model.text_tower`, are models of their own, with the same weights.
    Weights start as in the package's other models; tables and projections as in OpenAI's.

    Args:
        config: a `CLIPConfig`.
        name: the model's name.
        dtype: dtype or policy such as `"mixed_bfloat16"`; Keras's global policy by default.

    Call arguments:
        inputs: a dict: `images`, float images `[b, h, w, c]`, normalised as `model.preprocessing`
            says; `texts`, int32 `[b, context_length]`, as `keras_vit.data.Tokenizer` gives it.
        training: whether the model is being trained.

    Raises:
        ValueError: if the config has `num_classes`.

    Returns:
        A dict, float32 under a mixed policy: `images` and `texts`, vectors of length one
        `[b, embedding_dim]`; `scale` `[b, 1]`, by which their products become logits, the same
        for each example; with a `logit_bias`, `bias` `[b, 1]`, too.

    Example:

    >>> config = CLIPConfig(
    ...     image_size=32, patch_size=16, width=24, depth=1, num_heads=3, mlp_dim=48,
    ...     text_width=16, text_depth=1, text_num_heads=2, text_mlp_dim=32, embedding_dim=8,
    ...     vocabulary_size=97, context_length=7,
    ... )
    >>> CLIP(config).compute_output_shape({"images": (5, 32, 32, 3), "texts": (5, 7)})
    {'images': (5, 8), 'texts': (5, 8), 'scale': (5, 1)}
    """

    config_class = CLIPConfig

    def __init__(self, config, name="clip", dtype=None, **kwargs):
        if config.num_classes:
            raise ValueError(
                "A CLIP has no classes: `num_classes` must be 0. "
                f"Received: num_classes={config.num_classes}."
            )
        super().__init__(config, name=name, dtype=dtype, **kwargs)

    @property
    def image_tower(self):
        """The `ImageTower`."""
        return self.get_layer("image")

    @property
    def text_tower(self):
        """The `TextTower`."""
        return self.get_layer("text")

    @staticmethod
    def build_graph(config, policy):
        exact = head_dtype(policy)
        inputs = {"images": image_input(config, policy), "texts": _text_input(config)}
        towers = {
            "images": ImageTower(config, dtype=policy),
            "texts": TextTower(config, dtype=policy),
        }
        outputs = {
            kind: keras.layers.UnitNormalization(name=f"{tower.name}_embedding", dtype=exact)(
                tower(inputs[kind])
            )
            for kind, tower in towers.items()
        }
        scale = LogitScale(config.logit_scale, config.largest_scale, name="scale", dtype=exact)
        outputs["scale"] = scale(outputs["images"])
        if config.logit_bias is not None:
            bias = LogitBias(config.logit_bias, name="bias", dtype=exact)
            outputs["bias"] = bias(outputs["images"])
        return inputs, outputs, {kind: outputs[kind] for kind in towers}


def _text_input(config):
    return keras.Input((config.context_length,), dtype="int32", name="texts")


def _blocks(x, config, policy, tower, attention):
    for index in range(getattr(config, f"{tower}depth")):
        x = TransformerBlock(
            getattr(config, f"{tower}num_heads"),
            getattr(config, f"{tower}mlp_dim"),
            activation=config.activation,
            norm_epsilon=config.norm_epsilon,
            attention=attention,
            remat=config.remat,
            name=f"block_{index}",
            dtype=policy,
        )(x)
    return x


def _projection(pooled, config, policy):
    normal = keras.initializers.RandomNormal(stddev=pooled.shape[-1] ** -0.5)
    return keras.layers.Dense(
        config.embedding_dim,
        use_bias=False,
        kernel_initializer=normal,
        name="projection",
        dtype=head_dtype(policy),
    )(pooled)
