"""Published variants with few weights."""

from keras_vit.models import (
    CLIPConfig,
    CoAtNetConfig,
    DynamicViTConfig,
    HybridConfig,
    MAEConfig,
    SwinConfig,
)

# The sizes do not change what operations there are: one narrow block of each kind will do.
NARROW = {"depth": 1, "width": 24, "num_heads": 3, "mlp_dim": 40}


def narrow(config_class, fields):
    """The fields of a published variant, at its resolution, with few weights."""
    if config_class is CLIPConfig:
        text = {f"text_{name}": value for name, value in NARROW.items()}
        return {**fields, **NARROW, **text, "embedding_dim": 8, "vocabulary_size": 61}
    if config_class is MAEConfig:
        decoder = {f"decoder_{name}": value for name, value in NARROW.items()}
        return {**fields, **NARROW, **decoder}
    if config_class is SwinConfig:
        sizes = {"width": 12, "depths": (2, 1, 1, 1), "num_heads": (1, 2, 4, 8)}
    elif config_class is CoAtNetConfig:
        stages = tuple((kind, 16, 1, down) for kind, _, _, down in fields["stages"])
        sizes = {"stem_width": 8, "head_dim": 8, "stages": stages}
    elif config_class is HybridConfig:
        sizes = {**NARROW, "root_width": 32, "units": (1,) * len(fields["units"])}
    elif config_class is DynamicViTConfig:
        sizes = {**NARROW, "depth": 3, "stage_blocks": (1, 2), "keep_ratios": (0.7, 0.5)}
    else:
        sizes = NARROW
    return {**fields, **sizes, "dropout": 0.1, "drop_path": 0.1, "num_classes": 7}
