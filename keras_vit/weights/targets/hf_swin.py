"""Hugging Face transformers' Swin."""

from keras_vit.weights.targets.target import Target, in_the_way, square


def swin(config, activations, processor):
    """The target for a Swin.

    Args:
        config: its config.
        activations: our word for an activation -> theirs.
        processor: function from a config to what is in `preprocessor_config.json`.
    """
    smaller = any(min(grid) < max(config.window_size) for grid in config.grids)
    rows, columns = config.window_size
    return Target(
        source="hf_swin",
        in_the_way=in_the_way(
            norm_epsilon=config.norm_epsilon != 1e-5
            and "transformers' norms of patches and mergings have 1e-5 whatever it is told",
            window_size=rows != columns and "transformers' windows are square",
            image_size=smaller
            and "transformers' tables do not shrink where a map is smaller than a window",
            representation_size=config.representation_size and "transformers has no such layer",
        ),
        positions=False,
        position_rows=0,
        files=_files(activations, processor),
    )


def _files(activations, processor):
    """Returns the function from a config to what is in the JSON files."""

    def files(config):
        names = config.preprocessing.class_names or [
            f"LABEL_{index}" for index in range(config.num_classes)
        ]
        content = {
            "model_type": "swin",
            "architectures": ["SwinForImageClassification" if config.num_classes else "SwinModel"],
            "embed_dim": config.width,
            "depths": list(config.depths),
            "num_heads": list(config.num_heads),
            "window_size": config.window_size[0],
            "mlp_ratio": config.mlp_ratio,
            "image_size": square(config.image_size),
            "patch_size": square(config.patch_size),
            "num_channels": config.channels,
            "hidden_act": activations[config.activation],
            "layer_norm_eps": config.norm_epsilon,
            "drop_path_rate": config.drop_path,
            "qkv_bias": True,
            "use_absolute_embeddings": False,
            "id2label": {str(index): name for index, name in enumerate(names)},
            "label2id": {name: index for index, name in enumerate(names)},
        }
        return {"config.json": content, "preprocessor_config.json": processor(config)}

    return files
