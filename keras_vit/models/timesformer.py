"""TimeSformer: a ViT that reads clips.

Bertasius et al., *Is Space-Time Attention All You Need for Video Understanding?*, 2021, arXiv
2102.05095 (table 3).
"""

import dataclasses

import keras
from keras import ops

from keras_vit.layers import (
    FrameEncoder,
    Patches,
    Preprocessing,
    SpaceTimeBlock,
)
from keras_vit.layers.choices import check_choice
from keras_vit.layers.sizes import patch_grid
from keras_vit.models.base import NamedVariants, check_count, copy_by_path, input_dtype
from keras_vit.models.vit import VARIANTS as VIT_VARIANTS
from keras_vit.models.vit import ViT, ViTConfig, blocks, classified, encoded, transformed

COMMON = {
    **VIT_VARIANTS["B"],
    "patch_size": 16,
    "num_classes": 400,
    "drop_path": 0.1,
}


def _published(frames, stride, **fields):
    preprocessing = Preprocessing(
        mean=(0.45,) * 3, std=(0.225,) * 3, resize="crop", crop=1.0, stride=stride
    )
    return {**COMMON, "frames": frames, "preprocessing": preprocessing, **fields}


# Name -> fields of the config.
NAMES = {
    "timesformer_b16": _published(8, 32),
    "timesformer_hr_b16": _published(16, 16, image_size=448),
    "timesformer_l_b16": _published(96, 4),
}


@dataclasses.dataclass(frozen=True)
class TimeSformerConfig(ViTConfig):
    """Everything that defines a TimeSformer: the fields of `ViTConfig`, and those of time.

    Args:
        frames: frames of a clip.
        space_time: one of `SPACE_TIME`. `"divided"` looks over time, then over space in each block;
            `"joint"` has all tokens of a clip see one another; in `"space_only"` each frame goes
            through the ViT by itself, and the tokens are averaged over time.
    """

    frames: int = 8
    space_time: str = "divided"

    def __post_init__(self):
        super().__post_init__()
        check_count("frames", self.frames)
        preprocessing = dataclasses.replace(self.preprocessing, frames=self.frames)
        object.__setattr__(self, "preprocessing", preprocessing)
        check_choice("space_time", self.space_time, SPACE_TIME)
        if not self.class_token or self.registers:
            raise ValueError(
                "A TimeSformer has a class token and no registers. Received: "
                f"class_token={self.class_token}, registers={self.registers}."
            )
        if self.merged:
            raise ValueError(f"A TimeSformer merges no tokens. Received: merged={self.merged}.")
        if self.space_time != "space_only" and self.position == "relative":
            raise ValueError(
                "`position` 'relative' knows no time: it needs `space_time` 'space_only'. "
                f"Received: space_time={self.space_time!r}."
            )
        if self.space_time == "divided" and (self.mlp, self.attention) != ("mlp", "softmax"):
            raise ValueError(
                "Divided space-time attention has the plain MLP and the softmax. "
                f"Received: mlp={self.mlp!r}, attention={self.attention!r}."
            )


@keras.saving.register_keras_serializable(package="keras_vit")
class TimeSformer(NamedVariants, ViT):
    """A ViT for video: clips of normalised float frames in, logits out.

    Args are those of `ViT`, with a `TimeSformerConfig`.

    Call arguments:
        images: float clips `[b, frames, h, w, c]`, normalised as `model.preprocessing` says.
        training: whether the dropouts are on.

    Returns:
        Logits `[b, num_classes]`. The `tokens` of `features` are those of the patches frame by
        frame, `[b, frames * n, width]`; of `"space_only"` their mean over time, `[b, n, width]`.

    Example:

    >>> config = TimeSformerConfig(
    ...     frames=3, image_size=32, width=12, depth=1, num_heads=3, mlp_dim=8, num_classes=5
    ... )
    >>> TimeSformer(config)(keras.ops.ones((2, 3, 32, 32, 3))).shape
    TensorShape([2, 5])
    """

    config_class = TimeSformerConfig
    variants = NAMES

    def __init__(self, config, name="timesformer", dtype=None, **kwargs):
        super().__init__(config, name=name, dtype=dtype, **kwargs)

    @classmethod
    def from_image_model(cls, model, frames, space_time="divided", **fields):
        """Builds a TimeSformer that begins with what an image ViT has learned.

        The attention over time begins with the weights of that over space. With a new head, the
        video model of `"divided"` gives for a clip of one picture's copies what the ViT gives for
        the picture.

        Args:
            model: a `ViT` with a class token, of the same image and patch size.
            frames: frames of a clip.
            space_time: one of `SPACE_TIME`.
            **fields: fields of the config to change, such as `num_classes`, `preprocessing`.

        Raises:
            ValueError: if the ViT's sizes are changed.
        """
        shared = {
            field.name: getattr(model.config, field.name) for field in dataclasses.fields(ViTConfig)
        }
        if fields.get("num_classes", shared["num_classes"]) != shared["num_classes"]:
            shared["preprocessing"] = dataclasses.replace(shared["preprocessing"], class_names=())
        config = TimeSformerConfig(**{**shared, **fields}, frames=frames, space_time=space_time)
        video = cls(config, dtype=model.policy)
        new_head = config.num_classes != model.config.num_classes

        def of_pictures(path):
            if new_head and path.startswith("head"):
                return None
            return path.replace("temporal_norm", "norm1").replace("temporal_attention", "attention")

        copy_by_path(model, video, of_pictures)
        return video

    @staticmethod
    def build_graph(config, policy):
        shape = (config.frames, *config.image_size, config.channels)
        clips = keras.Input(shape, dtype=input_dtype(policy), name="images")
        tokens = SPACE_TIME[config.space_time](_patches(clips, config, policy), config, policy)
        return clips, *classified(tokens, config, policy)


def _patches(clips, config, policy):
    """The patches of all frames, `[b * frames, n, p * p * c]`."""
    frames = ops.reshape(clips, (-1, *clips.shape[2:]))
    return Patches(config.patch_size, name="patches", dtype=policy)(frames)


def _in_one_sequence(patches, config, policy):
    tokens = FrameEncoder(
        config.width,
        patch_grid(config.image_size, config.patch_size),
        config.frames,
        position=config.position,
        class_position=config.class_position,
        name="patch_encoder",
        dtype=policy,
    )(patches)
    if config.dropout:
        tokens = keras.layers.Dropout(config.dropout, name="dropout", dtype=policy)(tokens)
    return tokens


def _divided(patches, config, policy):
    tokens = _in_one_sequence(patches, config, policy)
    return blocks(tokens, config, policy, SpaceTimeBlock, frames=config.frames)


def _joint(patches, config, policy):
    return transformed(_in_one_sequence(patches, config, policy), config, policy)


def _space_only(patches, config, policy):
    tokens = transformed(encoded(patches, config, policy), config, policy)
    return ops.mean(ops.reshape(tokens, (-1, config.frames, *tokens.shape[1:])), axis=1)


# From the patches of all frames to the tokens after the last block.
SPACE_TIME = {"divided": _divided, "joint": _joint, "space_only": _space_only}
