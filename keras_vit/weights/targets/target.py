"""How a model is written for another code."""

import dataclasses
from collections.abc import Callable

from keras_vit.layers.sizes import patch_grid

# Fields of a config that no array tells, where the config has them.
NOTED = (
    "activation",
    "norm_epsilon",
    "batch_norm_epsilon",
    "group_norm_epsilon",
    "standardisation",
    "image_size",
    "num_heads",
    "text_num_heads",
    "decoder_num_heads",
    "mask_ratio",
    "end_token",
    "window_size",
    "squeeze",
    "pool",
    "stride_in",
    "pooling",
)


@dataclasses.dataclass(frozen=True)
class Target:
    """What the other code gets.

    Args:
        source: key of `SOURCES`: the names it is written under.
        in_the_way: field of the config -> why the other code cannot compute it.
        positions: whether it keeps a position table.
        position_rows: rows of its table that belong to tokens before the patches.
        files: config -> name -> content (JSON) of the files that stand beside the weights.
    """

    source: str
    in_the_way: dict
    positions: bool
    position_rows: int
    files: Callable = lambda config: {}

    def note(self, model):
        """What our own reader needs to build the same model."""
        config = model.config
        preprocessing = dataclasses.asdict(config.preprocessing)
        kept = ("mean", "std", "resize", "crop", "interpolation", "class_names")
        return {
            "source": self.source,
            "fields": {
                **{name: getattr(config, name) for name in NOTED if hasattr(config, name)},
                "preprocessing": {name: preprocessing[name] for name in kept},
            },
        }


def in_the_way(**reasons):
    """Those reasons that are not None or False: field=condition and "text"."""
    return {name: reason for name, reason in reasons.items() if reason}


def own_attention(config):
    """What of a ViT's attention no other code can compute."""
    position = getattr(config, "position", "none") == "relative"
    performer = getattr(config, "attention", "softmax") != "softmax"
    return in_the_way(
        position=position and "the others' ViTs have no bias by offsets",
        attention=performer and "the others' ViTs have the softmax only",
        merged=getattr(config, "merged", ()) and "the others' ViTs merge no tokens",
    )


def square(size):
    """A side, or the pair where the sides differ."""
    return size[0] if size[0] == size[1] else list(size)


def class_rows(config):
    """How many rows of a position table belong to the class token: one or none."""
    return int(config.class_token and config.class_position and config.position == "learned")


def grid(config):
    """(rows, columns) of the patches."""
    return patch_grid(config.image_size, config.patch_size)
