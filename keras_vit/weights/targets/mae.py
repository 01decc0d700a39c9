"""A masked autoencoder for transformers, and under the authors' names."""

from keras_vit.weights.metadata import HF_ACTIVATIONS
from keras_vit.weights.targets.target import Target, in_the_way, square

ACTIVATIONS = {ours: theirs for theirs, ours in HF_ACTIVATIONS.items()}


def transformers(model, processor):
    """The target for transformers' `ViTMAEForPreTraining`.

    Args:
        model: a `MAE`.
        processor: config -> content of `preprocessor_config.json`.
    """

    def files(config):
        content = {
            "model_type": "vit_mae",
            "architectures": ["ViTMAEForPreTraining"],
            "hidden_size": config.width,
            "num_hidden_layers": config.depth,
            "num_attention_heads": config.num_heads,
            "intermediate_size": config.mlp_dim,
            "decoder_hidden_size": config.decoder_width,
            "decoder_num_hidden_layers": config.decoder_depth,
            "decoder_num_attention_heads": config.decoder_num_heads,
            "decoder_intermediate_size": config.decoder_mlp_dim,
            "mask_ratio": config.mask_ratio,
            "norm_pix_loss": True,
            "image_size": square(config.image_size),
            "patch_size": square(config.patch_size),
            "num_channels": config.channels,
            "hidden_act": ACTIVATIONS[config.activation],
            "layer_norm_eps": config.norm_epsilon,
            "qkv_bias": True,
        }
        return {"config.json": content, "preprocessor_config.json": processor(config)}

    return _target("hf_mae", model.config, files=files)


def official(model):
    """The target for the authors' code, from which our ViT reads the encoder, too."""
    config = model.config
    return _target(
        "mae",
        config,
        activation=config.activation != "gelu" and "the authors' code has the exact GELU",
        norm_epsilon=config.norm_epsilon != 1e-6 and "the authors' code has 1e-6",
    )


def _target(source, config, files=lambda config: {}, **reasons):
    squares = "their code takes square images in square patches only"
    return Target(
        source=source,
        in_the_way=in_the_way(
            image_size=len(set(config.image_size)) > 1 and squares,
            patch_size=len(set(config.patch_size)) > 1 and squares,
            **reasons,
        ),
        positions=True,
        position_rows=1,
        files=files,
    )
