"""The JAX codes' ViT in float64 numpy, on their own names and layouts, sharing no code with ours.

`checkpoint` makes the arrays of a small file as vit_jax and big_vision publish them, `forward`
computes what their code computes from such arrays. Flax keeps a projection of attention as
(width, heads, head_dim), its output as (heads, head_dim, width), a patch convolution as (row,
column, channel, width). References: google-research/vision_transformer `vit_jax/models_vit.py`,
google-research/big_vision `models/vit.py`.
"""

import math

import numpy as np
import scipy.ndimage

WIDTH, DEPTH, HEADS, MLP_DIM, CLASSES = 24, 2, 3, 43, 7
PATCH, GRID = (4, 4), (5, 5)
# What `create_model` must be told of a model of these sizes.
SIZES = {
    "patch_size": PATCH,
    "width": WIDTH,
    "depth": DEPTH,
    "num_heads": HEADS,
    "mlp_dim": MLP_DIM,
}

# The codes number the same layers differently: (attention, second norm, MLP).
NUMBERING = {
    "vit_jax": ("MultiHeadDotProductAttention_1", "LayerNorm_2", "MlpBlock_3"),
    "big_vision": ("MultiHeadDotProductAttention_0", "LayerNorm_1", "MlpBlock_0"),
}
POSITIONS = {
    "vit_jax": "Transformer/posembed_input/pos_embedding",
    "big_vision": "pos_embedding",
}


def shapes(
    code="vit_jax",
    pool="tok",
    grid=GRID,
    learned=True,
    representation=None,
    classes=CLASSES,
    channels=3,
    patch=PATCH,
    depth=DEPTH,
):
    """Name -> shape of every array of a file.

    Args:
        code: key of `NUMBERING`. vit_jax adds positions to the class token too.
        pool: `"tok"`, `"gap"` or `"map"`.
        grid: (rows, columns) of the position table.
        learned: whether there is a position table.
        representation: width of `pre_logits`, or None.
        classes: 0 leaves the head out.
        channels, patch, depth: sizes.
    """
    found = {"embedding/kernel": (*patch, channels, WIDTH), "embedding/bias": (WIDTH,)}
    if pool == "tok":
        found["cls"] = (1, 1, WIDTH)
    if learned:
        rows = grid[0] * grid[1] + (code == "vit_jax" and pool == "tok")
        found[POSITIONS[code]] = (1, rows, WIDTH)
    for index in range(depth):
        found |= _block_shapes(f"Transformer/encoderblock_{index}", *NUMBERING[code])
    found |= _norm_shapes("Transformer/encoder_norm")
    if pool == "map":
        attention, norm, mlp = "MultiHeadDotProductAttention_0", "LayerNorm_0", "MlpBlock_0"
        found["MAPHead_0/probe"] = (1, 1, WIDTH)
        found |= _attention_shapes(f"MAPHead_0/{attention}")
        found |= _norm_shapes(f"MAPHead_0/{norm}") | _mlp_shapes(f"MAPHead_0/{mlp}")
    if representation:
        found |= _dense_shapes("pre_logits", WIDTH, representation)
    if classes:
        found |= _dense_shapes("head", representation or WIDTH, classes)
    return found


def checkpoint(generator, dtype="float32", **options):
    """Name -> array, all random: see `shapes`. Zeros, as in fresh weights, would hide branches."""
    arrays = {}
    for name, shape in shapes(**options).items():
        scale = 0.5 if name in ("cls", "head/kernel", *POSITIONS.values()) else 0.2
        values = scale * generator.standard_normal(shape)
        arrays[name] = (values + name.endswith("scale")).astype(dtype)
    return arrays


def stacked(arrays, depth=DEPTH):
    """The same arrays as big_vision's `scan=True` keeps them: all blocks' in one, depth first."""
    start = "Transformer/encoderblock_0/"
    parts = [name.removeprefix(start) for name in arrays if name.startswith(start)]
    others = {n: x for n, x in arrays.items() if not n.startswith("Transformer/encoderblock_")}
    return others | {
        f"Transformer/encoderblock/{part}": np.stack(
            [arrays[f"Transformer/encoderblock_{index}/{part}"] for index in range(depth)]
        )
        for part in parts
    }


def forward(arrays, images, code="vit_jax", pool="tok", grid=GRID, depth=DEPTH, sincos=False):
    """Logits [b, classes], or the pooled vector [b, width] without a head.

    Args:
        arrays: as `checkpoint` gives them: not stacked, without prefixes.
        images: [b, h, w, c]; their size decides to which grid positions are resized.
        code, pool, depth: as in `shapes`.
        grid: (rows, columns) of the file's position table.
        sincos: whether positions are big_vision's `sincos2d`.
    """
    p = {name: np.asarray(value, "float64") for name, value in arrays.items()}
    x = convolve(np.asarray(images, "float64"), p["embedding/kernel"]) + p["embedding/bias"]
    batch, rows, columns, _ = x.shape
    x = x.reshape(batch, rows * columns, -1)
    table = p.get(POSITIONS[code])
    if sincos:
        table = sincos_2d(rows, columns, x.shape[-1])[None]
    class_token = np.repeat(p["cls"], batch, axis=0) if pool == "tok" else None
    if code == "vit_jax":
        if class_token is not None:
            x = np.concatenate([class_token, x], axis=1)
        if table is not None:
            x = x + resized(table, grid, (rows, columns), prefix=int(class_token is not None))
    else:
        if table is not None:
            x = x + (table if sincos else resized(table, grid, (rows, columns), prefix=0))
        if class_token is not None:
            x = np.concatenate([class_token, x], axis=1)
    attention, second, mlp = NUMBERING[code]
    for index in range(depth):
        block = f"Transformer/encoderblock_{index}"
        y = norm(x, p, f"{block}/LayerNorm_0")
        x = x + attend(y, y, p, f"{block}/{attention}")
        x = x + perceptron(norm(x, p, f"{block}/{second}"), p, f"{block}/{mlp}")
    x = norm(x, p, "Transformer/encoder_norm")
    x = {"tok": lambda: x[:, 0], "gap": lambda: x.mean(axis=1), "map": lambda: map_head(x, p)}[
        pool
    ]()
    if "pre_logits/kernel" in p:
        x = np.tanh(dense(x, p, "pre_logits"))
    return dense(x, p, "head") if "head/kernel" in p else x


def convolve(images, kernel):
    """Stride = kernel size, no padding: [b, h, w, c] to [b, rows, columns, width]."""
    high, wide, channels, _ = kernel.shape
    batch, height, width, _ = images.shape
    cut = images.reshape(batch, height // high, high, width // wide, wide, channels)
    return np.einsum("brpsqc,pqcd->brsd", cut, kernel)


def resized(table, grid, new_grid, prefix):
    """vit_jax's way: the first rows apart, the others zoomed with order 1."""
    if grid == new_grid:
        return table
    picture = table[0, prefix:].reshape(*grid, -1)
    zoom = (new_grid[0] / grid[0], new_grid[1] / grid[1], 1)
    zoomed = scipy.ndimage.zoom(picture, zoom, order=1)
    assert zoomed.shape[:2] == new_grid
    return np.concatenate([table[:, :prefix], zoomed.reshape(1, -1, table.shape[-1])], axis=1)


def sincos_2d(rows, columns, width):
    """big_vision's `posemb_sincos_2d`."""
    y, x = (part.reshape(-1) for part in np.mgrid[:rows, :columns])
    omega = 1.0 / 10_000.0 ** (np.arange(width // 4) / (width // 4 - 1))
    y, x = np.outer(y, omega), np.outer(x, omega)
    return np.concatenate([np.sin(x), np.cos(x), np.sin(y), np.cos(y)], axis=1)


def norm(x, p, name):
    mean = x.mean(axis=-1, keepdims=True)
    variance = (x**2).mean(axis=-1, keepdims=True) - mean**2  # Flax's way
    return (x - mean) / np.sqrt(variance + 1e-6) * p[f"{name}/scale"] + p[f"{name}/bias"]


def dense(x, p, name):
    return x @ p[f"{name}/kernel"] + p[f"{name}/bias"]


def attend(queries, values, p, name):
    """Flax's MultiHeadDotProductAttention."""
    project = lambda x, part: (  # noqa: E731
        np.einsum("bnD,Dhd->bnhd", x, p[f"{name}/{part}/kernel"]) + p[f"{name}/{part}/bias"]
    )
    query, key, value = (
        project(queries, "query"),
        project(values, "key"),
        project(values, "value"),
    )
    scores = np.einsum("bmhd,bnhd->bhmn", query / math.sqrt(query.shape[-1]), key)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    mixed = np.einsum("bhmn,bnhd->bmhd", scores, value)
    return np.einsum("bmhd,hdD->bmD", mixed, p[f"{name}/out/kernel"]) + p[f"{name}/out/bias"]


def perceptron(x, p, name):
    x = dense(x, p, f"{name}/Dense_0")
    # flax.linen.gelu: the tanh form by default.
    x = x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
    return dense(x, p, f"{name}/Dense_1")


def map_head(x, p):
    """big_vision's MAPHead."""
    probe = np.repeat(p["MAPHead_0/probe"], len(x), axis=0)
    x = attend(probe, x, p, "MAPHead_0/MultiHeadDotProductAttention_0")
    y = norm(x, p, "MAPHead_0/LayerNorm_0")
    return (x + perceptron(y, p, "MAPHead_0/MlpBlock_0"))[:, 0]


def _block_shapes(name, attention, norm, mlp):
    return {
        **_norm_shapes(f"{name}/LayerNorm_0"),
        **_attention_shapes(f"{name}/{attention}"),
        **_norm_shapes(f"{name}/{norm}"),
        **_mlp_shapes(f"{name}/{mlp}"),
    }


def _attention_shapes(name):
    size = WIDTH // HEADS
    found = {}
    for part in ("query", "key", "value"):
        found[f"{name}/{part}/kernel"] = (WIDTH, HEADS, size)
        found[f"{name}/{part}/bias"] = (HEADS, size)
    return found | {f"{name}/out/kernel": (HEADS, size, WIDTH), f"{name}/out/bias": (WIDTH,)}


def _mlp_shapes(name):
    return _dense_shapes(f"{name}/Dense_0", WIDTH, MLP_DIM) | _dense_shapes(
        f"{name}/Dense_1", MLP_DIM, WIDTH
    )


def _dense_shapes(name, into, out):
    return {f"{name}/kernel": (into, out), f"{name}/bias": (out,)}


def _norm_shapes(name):
    return {f"{name}/scale": (WIDTH,), f"{name}/bias": (WIDTH,)}
