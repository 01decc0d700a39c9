"""CLIP for transformers and for OpenCLIP."""

import dataclasses

from keras_vit.weights.metadata import HF_ACTIVATIONS
from keras_vit.weights.targets.target import Target, in_the_way, square

ACTIVATIONS = {ours: theirs for theirs, ours in HF_ACTIVATIONS.items()}
SQUARES = "transformers' CLIP takes square images in square patches only"


def transformers(model, processor):
    """The target for transformers' `CLIPModel`.

    Args:
        model: a `CLIP`.
        processor: config -> content of `preprocessor_config.json`.
    """

    def files(config):
        content = processor(config)
        if config.preprocessing.resize == "crop":
            content["image_processor_type"] = "CLIPImageProcessor"
        return {"config.json": _transformers_config(config), "preprocessor_config.json": content}

    config = model.config
    return Target(
        source="hf_clip",
        in_the_way=in_the_way(
            image_size=len(set(config.image_size)) > 1 and SQUARES,
            patch_size=len(set(config.patch_size)) > 1 and SQUARES,
            logit_bias=config.logit_bias is not None and "transformers' CLIP has none",
        ),
        positions=True,
        position_rows=1,
        files=files,
    )


def _transformers_config(config):
    shared = {
        "hidden_act": ACTIVATIONS[config.activation],
        "layer_norm_eps": config.norm_epsilon,
        "projection_dim": config.embedding_dim,
    }
    text = {
        "model_type": "clip_text_model",
        "hidden_size": config.text_width,
        "intermediate_size": config.text_mlp_dim,
        "num_hidden_layers": config.text_depth,
        "num_attention_heads": config.text_num_heads,
        "max_position_embeddings": config.context_length,
        "vocab_size": config.vocabulary_size,
        "bos_token_id": config.end_token - 1,
        "eos_token_id": config.end_token,
        "pad_token_id": 0,
    }
    vision = {
        "model_type": "clip_vision_model",
        "hidden_size": config.width,
        "intermediate_size": config.mlp_dim,
        "num_hidden_layers": config.depth,
        "num_attention_heads": config.num_heads,
        "image_size": square(config.image_size),
        "patch_size": square(config.patch_size),
        "num_channels": config.channels,
    }
    return {
        "model_type": "clip",
        "architectures": ["CLIPModel"],
        "projection_dim": config.embedding_dim,
        "logit_scale_init_value": config.logit_scale,
        "text_config": {**text, **shared},
        "vision_config": {**vision, **shared},
    }


def open_clip(model):
    """The target for OpenCLIP: `open_clip.create_model("local-dir:" + path)`."""
    config = model.config
    known = {"gelu", "quick_gelu"}
    return Target(
        source="open_clip",
        in_the_way=in_the_way(
            activation=config.activation not in known and "OpenCLIP has gelu and quick_gelu",
            norm_epsilon=config.norm_epsilon != 1e-5 and "OpenCLIP uses 1e-5",
            end_token=config.end_token != config.vocabulary_size - 1
            and "OpenCLIP takes the largest piece for the end of a text",
            patch_size=len(set(config.patch_size)) > 1 and "OpenCLIP has square patches only",
            channels=config.channels != 3 and "OpenCLIP takes images of three channels",
        ),
        positions=True,
        position_rows=1,
        files=lambda config: {"open_clip_config.json": _open_clip_config(config)},
    )


def _open_clip_config(config):
    vision = {
        "image_size": square(config.image_size),
        "layers": config.depth,
        "width": config.width,
        "head_width": config.width // config.num_heads,
        "mlp_ratio": _ratio(config.width, config.mlp_dim),
        "patch_size": config.patch_size[0],
    }
    text = {
        "context_length": config.context_length,
        "vocab_size": config.vocabulary_size,
        "width": config.text_width,
        "heads": config.text_num_heads,
        "layers": config.text_depth,
        "mlp_ratio": _ratio(config.text_width, config.text_mlp_dim),
    }
    biased = {} if config.logit_bias is None else {"init_logit_bias": config.logit_bias}
    preprocessing = dataclasses.asdict(config.preprocessing)
    modes = {"crop": "shortest", "squash": "squash"}
    return {
        "model_cfg": {
            "embed_dim": config.embedding_dim,
            "quick_gelu": config.activation == "quick_gelu",
            "vision_cfg": vision,
            "text_cfg": text,
            **biased,
        },
        "preprocess_cfg": {
            **{name: preprocessing[name] for name in ("mean", "std", "interpolation")},
            "resize_mode": modes[config.preprocessing.resize],
        },
    }


def _ratio(width, hidden):
    """A ratio of which OpenCLIP's `int(width * ratio)` is the hidden width."""
    return hidden / width if int(width * (hidden / width)) == hidden else (hidden + 0.5) / width
