"""A DINOv2 that is at hand as an ONNX graph only, as a folder of transformers' weights.

PyTorch's exporter keeps the names of most weights, but transposes each matrix, gives it a generated
name (`onnx::MatMul_1966`), and cuts the position table in two. The graph tells what is what.
"""

import json

import numpy as np
from safetensors.numpy import save_file

from keras_vit.files import replacing
from keras_vit.layers.extras import require

TOKEN = "embeddings.cls_token"
POSITIONS = "embeddings.position_embeddings"
PATCHES = "embeddings.patch_embeddings.projection.weight"
FIRST_MLP = "encoder.layer.0.mlp.fc1.weight"
LAST = "layernorm.bias"
HEAD_SIZE = 64  # in every published DINOv2; no array of the graph tells


def write_dinov2(path, folder):
    """Writes the DINOv2 backbone of an ONNX graph as transformers' weights.

    The folder holds `model.safetensors` and `config.json`:
    `create_model("dinov2_s14", weights=folder)` opens it, as does `from_pretrained`.

    Args:
        path: an `.onnx` file that PyTorch exported from transformers' `Dinov2Model`, alone or as
            part of a larger model.
        folder: the folder to write. What is there is replaced.

    Returns:
        The name, in the graph, of the backbone's output: the tokens `[b, 1 + n, width]` after the
        final norm.

    Raises:
        ImportError: if `onnx` is not installed.
        ValueError: if the graph holds no such backbone.

    Reference:
        Oquab et al., *DINOv2: Learning Robust Visual Features without Supervision*, 2023, arXiv
        2304.07193.
    """
    onnx = require("onnx", extra="onnx")
    graph = onnx.load(str(path)).graph
    arrays = {array.name: onnx.numpy_helper.to_array(array) for array in graph.initializer}
    prefix = next((name.removesuffix(TOKEN) for name in arrays if name.endswith(TOKEN)), None)
    if prefix is None:
        raise ValueError(f"{path} holds no DINOv2: none of its arrays is called {TOKEN}.")
    arrays |= _matrices(graph, arrays)
    arrays.setdefault(prefix + POSITIONS, _positions(graph, arrays, prefix))
    kept = {
        name.removeprefix(prefix): np.ascontiguousarray(array)
        for name, array in arrays.items()
        if name.startswith((f"{prefix}embeddings.", f"{prefix}encoder.", f"{prefix}layernorm."))
    }
    with replacing(folder) as temporary:
        temporary.mkdir()
        save_file(kept, temporary / "model.safetensors", {"format": "pt"})
        config = json.dumps(_config(path, kept), indent=2)
        (temporary / "config.json").write_text(config, "utf-8")
    return next(node.output[0] for node in graph.node if prefix + LAST in node.input)


def _matrices(graph, arrays):
    """The matrices under their layer's name, which is that of the bias added to the product."""
    bias_of = {}
    for node in graph.node:
        if node.op_type == "Add":
            for bias, product in (node.input, reversed(node.input)):
                if bias in arrays and bias.endswith(".bias"):
                    bias_of[product] = bias
    return {
        f"{bias_of[node.output[0]].removesuffix('.bias')}.weight": arrays[node.input[1]].T
        for node in graph.node
        if node.op_type == "MatMul" and node.input[1] in arrays and node.output[0] in bias_of
    }


def _positions(graph, arrays, prefix):
    """The position table: the class token's row, which is concatenated, and the reshaped grid."""
    place = f"/{prefix.replace('.', '/')}embeddings/"
    rows = {}
    for node in graph.node:
        if node.name.startswith(place) and node.op_type in ("Concat", "Reshape"):
            name = node.input[0]
            if name in arrays and arrays[name].ndim == 3:
                rows[node.op_type] = arrays[name]
    if rows.keys() != {"Concat", "Reshape"}:
        raise ValueError(f"The graph adds no position table to the tokens under {place}.")
    return np.concatenate([rows["Concat"], rows["Reshape"]], axis=1)


def _config(path, arrays):
    """`config.json` of transformers."""
    lacking = [name for name in (PATCHES, FIRST_MLP) if name not in arrays]
    if lacking:
        raise ValueError(f"{path} holds no DINOv2 with a plain MLP: it lacks {lacking[0]}.")
    width, channels, patch, _ = arrays[PATCHES].shape
    grid = round((arrays[POSITIONS].shape[1] - 1) ** 0.5)
    return {
        "model_type": "dinov2",
        "architectures": ["Dinov2Model"],
        "hidden_size": width,
        "num_hidden_layers": 1 + max(int(n.split(".")[2]) for n in arrays if ".layer." in n),
        "num_attention_heads": width // HEAD_SIZE,
        "mlp_ratio": arrays[FIRST_MLP].shape[0] // width,
        "image_size": grid * patch,
        "patch_size": patch,
        "num_channels": channels,
        # The conventions of every DINOv2 with a plain MLP.
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-6,
        "qkv_bias": True,
        "use_swiglu_ffn": False,
    }
