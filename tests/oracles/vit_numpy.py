"""A plain ViT in float64 numpy, written from the formulas and sharing no code with the package.

Weights are a dict from our weight paths to arrays; the configuration is a dict of `ViTConfig`
fields. Reference: Dosovitskiy et al., "An Image is Worth 16x16 Words", arXiv 2010.11929.
"""

import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[np.float64])

ACTIVATIONS = {
    "gelu": lambda x: x * 0.5 * (1.0 + erf(x / math.sqrt(2.0))),
    "gelu_tanh": lambda x: (
        0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))
    ),
    "quick_gelu": lambda x: x / (1.0 + np.exp(-1.702 * x)),
}


def patches(image, patch_size):
    """[b, h, w, c] to [b, n, p*p*c]: patches row by row, pixels as (row, column, channel)."""
    rows, columns = patch_size
    return np.stack(
        [
            np.stack(
                [
                    picture[y : y + rows, x : x + columns].reshape(-1)
                    for y in range(0, image.shape[1], rows)
                    for x in range(0, image.shape[2], columns)
                ]
            )
            for picture in image
        ]
    )


def sincos_2d(grid, width, frequencies):
    """[rows*columns, width]: sin and cos of the column, then of the row.

    Args:
        grid: (rows, columns).
        width: Divisible by 4.
        frequencies: The width // 4 angular frequencies, see `mae_` and `moco_frequencies`.
    """
    table = np.zeros((grid[0] * grid[1], width))
    quarter = width // 4
    for y in range(grid[0]):
        for x in range(grid[1]):
            for k, frequency in enumerate(frequencies):
                table[y * grid[1] + x, k::quarter] = (
                    math.sin(x * frequency),
                    math.cos(x * frequency),
                    math.sin(y * frequency),
                    math.cos(y * frequency),
                )
    return table


def mae_frequencies(width):
    return [10000.0 ** (-k / (width // 4)) for k in range(width // 4)]


def moco_frequencies(width):
    """MoCo-v3 and big_vision: the last frequency is exactly 1 / 10000."""
    return [10000.0 ** (-k / (width // 4 - 1)) for k in range(width // 4)]


def norm(x, weights, path, epsilon):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    normal = (x - mean) / np.sqrt(variance + epsilon)
    return normal * weights[f"{path}/gamma"] + weights[f"{path}/beta"]


def dense(x, weights, path):
    return x @ weights[f"{path}/kernel"] + weights[f"{path}/bias"]


def heads_of(x, kernel, bias):
    """[b, n, D] with kernel [D, H, d] and bias [H, d] to [b, H, n, d]."""
    return np.einsum("bnD,DHd->bHnd", x, kernel) + bias[:, None, :]


def attend(query, key, value):
    """[b, H, m, d], [b, H, n, d], [b, H, n, d] to [b, m, H*d]."""
    logits = np.einsum("bHmd,bHnd->bHmn", query, key) / math.sqrt(query.shape[-1])
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    probabilities = powers / powers.sum(axis=-1, keepdims=True)
    context = np.einsum("bHmn,bHnd->bmHd", probabilities, value)
    return context.reshape(*context.shape[:2], -1)


def attention(x, weights, path):
    kernel, bias = weights[f"{path}/qkv/kernel"], weights[f"{path}/qkv/bias"]
    query, key, value = (heads_of(x, kernel[:, i], bias[i]) for i in range(3))
    return dense(attend(query, key, value), weights, f"{path}/out")


def mlp(x, weights, path, activation):
    hidden = ACTIVATIONS[activation](dense(x, weights, f"{path}/fc1"))
    return dense(hidden, weights, f"{path}/fc2")


def block(x, weights, path, config):
    epsilon = config["norm_epsilon"]
    for number, branch in (
        (1, lambda y: attention(y, weights, f"{path}/attention")),
        (2, lambda y: mlp(y, weights, f"{path}/mlp", config["activation"])),
    ):
        y = branch(norm(x, weights, f"{path}/norm{number}", epsilon))
        if config["layer_scale"] is not None:
            y = y * weights[f"{path}/scale{number}/gamma"]
        x = x + y
    return x


def encode(image, weights, config):
    """Patch tokens with positions and the prefix [class, registers] in front: [b, n, d]."""
    tokens = dense(patches(image, config["patch_size"]), weights, "patch_encoder/projection")
    prefix, table = [], np.zeros(tokens.shape[1:])
    if config["position"] == "learned":
        table = weights["patch_encoder/position"][0]
    elif config["position"] == "sincos2d":
        grid = [s // p for s, p in zip(config["image_size"], config["patch_size"], strict=True)]
        table = sincos_2d(grid, config["width"], moco_frequencies(config["width"]))
    if config["class_token"]:
        class_token = weights["patch_encoder/class_token"]
        if config["position"] == "learned" and config["class_position"]:
            class_token, table = class_token + table[0], table[1:]
        prefix.append(class_token)
    if config["registers"]:
        prefix.append(weights["patch_encoder/registers"])
    prefix = [np.repeat(token, len(image), axis=0) for token in prefix]
    return np.concatenate([*prefix, tokens + table], axis=1)


def attention_pool(tokens, weights, config):
    """[b, n, d] to [b, d]: a learned probe attends, then a residual MLP."""
    probe = np.repeat(weights["pool/probe"], len(tokens), axis=0)
    path = "pool/attention"
    query = heads_of(probe, weights[f"{path}/query/kernel"], weights[f"{path}/query/bias"])
    kernel, bias = weights[f"{path}/key_value/kernel"], weights[f"{path}/key_value/bias"]
    key, value = (heads_of(tokens, kernel[:, i], bias[i]) for i in range(2))
    x = dense(attend(query, key, value), weights, f"{path}/out")
    y = norm(x, weights, "pool/norm", config["norm_epsilon"])
    return (x + mlp(y, weights, "pool/mlp", config["activation"]))[:, 0]


def forward(image, weights, config):
    """The whole model.

    Returns:
        A dict: `block_outputs` [depth, b, n, d], `features` [b, n, d] (after the final norm, or
        before it where pooling comes first), `pooled` [b, d] and `logits` [b, k].
    """
    weights = {path: np.asarray(value, "float64") for path, value in weights.items()}
    x = encode(np.asarray(image, "float64"), weights, config)
    blocks = []
    for i in range(config["depth"]):
        x = block(x, weights, f"block_{i}", config)
        blocks.append(x)
    pooling, epsilon = config["pooling"], config["norm_epsilon"]
    if pooling != "gap_then_norm":
        x = norm(x, weights, "norm", epsilon)
    patch_tokens = x[:, int(config["class_token"]) + config["registers"] :]
    pooled = {
        "token": lambda: x[:, 0],
        "gap": lambda: patch_tokens.mean(axis=1),
        "gap_then_norm": lambda: norm(patch_tokens.mean(axis=1), weights, "norm", epsilon),
        "map": lambda: attention_pool(patch_tokens, weights, config),
    }[pooling]()
    hidden = pooled
    if config["representation_size"]:
        hidden = np.tanh(dense(pooled, weights, "representation"))
    return {
        "block_outputs": np.stack(blocks),
        "features": x,
        "pooled": pooled,
        "logits": dense(hidden, weights, "head"),
    }
