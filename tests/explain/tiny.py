"""A ViT of a few tokens with random weights, and the same in numpy with its attention open."""

import numpy as np

from keras_vit.factory import create_model
from tests.oracles import vit_numpy

SIZES = dict(width=12, depth=3, num_heads=2, mlp_dim=10, num_classes=5, patch_size=(4, 6))
IMAGE_SIZE = (8, 18)  # 2 rows of 3 patches


def tiny(name="vit_ti16", dtype="float64", **fields):
    """A model whose weights, heads and tokens too, are all random and of the size of 1."""
    model = create_model(name, dtype=dtype, **{**SIZES, "image_size": IMAGE_SIZE, **fields})
    rng = np.random.default_rng(7)
    for weight in model.weights:
        weight.assign(rng.normal(scale=0.6, size=weight.shape))
    return model


def images(count=2):
    return np.random.default_rng(8).normal(size=(count, *IMAGE_SIZE, 3))


def weights_of(model):
    return {weight.path: np.asarray(weight, "float64") for weight in model.weights}


def attention_of(tokens, weights, path, epsilon):
    """One block's attention by a loop over heads."""
    normed = vit_numpy.norm(tokens, weights, f"{path}/norm1", epsilon)
    kernel, bias = weights[f"{path}/attention/qkv/kernel"], weights[f"{path}/attention/qkv/bias"]
    heads = []
    for head in range(kernel.shape[2]):
        query, key = (normed @ kernel[:, part, head] + bias[part, head] for part in (0, 1))
        scores = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(kernel.shape[-1]))
        heads.append(scores / scores.sum(axis=-1, keepdims=True))
    return np.stack(heads, axis=1)


def block_with(tokens, attention, weights, path, config):
    """One block whose attention is given, `[b, heads, n, n]`."""
    epsilon = config.norm_epsilon
    normed = vit_numpy.norm(tokens, weights, f"{path}/norm1", epsilon)
    kernel, bias = weights[f"{path}/attention/qkv/kernel"], weights[f"{path}/attention/qkv/bias"]
    value = vit_numpy.heads_of(normed, kernel[:, 2], bias[2])
    mixed = np.concatenate([attention[:, h] @ value[:, h] for h in range(value.shape[1])], axis=-1)
    out = vit_numpy.dense(mixed, weights, f"{path}/attention/out")
    if config.layer_scale is not None:
        out = out * weights[f"{path}/scale1/gamma"]
    tokens = tokens + out
    normed = vit_numpy.norm(tokens, weights, f"{path}/norm2", epsilon)
    processed = vit_numpy.mlp(normed, weights, f"{path}/mlp", config.activation)
    if config.layer_scale is not None:
        processed = processed * weights[f"{path}/scale2/gamma"]
    return tokens + processed


def run(model, pictures, changed=None):
    """Every block's attention and the logits; `changed` is (block, what is added to it)."""
    config, weights = model.config, weights_of(model)
    tokens = vit_numpy.encode(pictures, weights, vars(config))
    attentions = []
    for index in range(config.depth):
        attention = attention_of(tokens, weights, f"block_{index}", config.norm_epsilon)
        if changed is not None and changed[0] == index:
            attention = attention + changed[1]
        attentions.append(attention)
        tokens = block_with(tokens, attention, weights, f"block_{index}", config)
    normed = vit_numpy.norm(tokens, weights, "norm", config.norm_epsilon)
    logits = vit_numpy.dense(_pooled(normed, config), weights, "head")
    if "head_distillation/kernel" in weights:
        logits = (logits + vit_numpy.dense(normed[:, 1], weights, "head_distillation")) / 2
    return attentions, logits


def _pooled(normed, config):
    return normed[:, 0] if config.pooling == "token" else normed[:, config.num_prefix :].mean(1)
